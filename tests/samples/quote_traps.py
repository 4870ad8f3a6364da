"""Lines of quotes whose price is not that of the part, by kind and language, and honest ones that look like them.

Prices are such that no band tells: what is wrong has to be read from words, sums or currencies.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import NamedTuple

# Headings of part number, description, quantity, price of a unit, total and remarks; and how a thousand is written.
LANGUAGES = {
    "en": ("Part number,Description,Qty,Unit price USD,Total USD,Remarks", ",", ".", ","),
    "de": ("Artikelnummer;Bezeichnung;Menge;Einzelpreis USD;Gesamtpreis USD;Bemerkung", ".", ",", ";"),
    "fr": ("Référence;Désignation;Qté;Prix unitaire USD;Montant USD;Notes", " ", ",", ";"),
    "es": ("Código;Descripción;Cantidad;Precio unitario USD;Importe USD;Comentario", ".", ",", ";"),
    "ja": ("型番,品名,数量,単価 USD,金額 USD,備考", ",", ".", ","),
    "zh": ("型号,描述,数量,单价 USD,总价 USD,备注", ",", ".", ","),
    "it": ("Codice;Descrizione;Quantità;Prezzo unitario USD;Importo USD;Note", ".", ",", ";"),
    "nl": ("Artikelnummer;Omschrijving;Aantal;Stukprijs USD;Totaal USD;Opmerking", ".", ",", ";"),
    "pl": ("Numer katalogowy;Opis;Ilość;Cena jedn. USD;Wartość USD;Uwagi", " ", ",", ";"),
    "ko": ("품번,품명,수량,단가 USD,금액 USD,비고", ",", ".", ","),
}
TOTALS = ("Total", "Summe", "Total HT", "Total", "合計", "合计", "Totale", "Totaal", "Razem", "합계")
# Parts of the reference catalog with a price that is believed of each, and what each language calls them.
PARTS = {
    "MQM9790-NS2F": ("nvidia-qm9790", 31000, {"en": "Quantum-2 switch", "de": "Quantum-2 Switch",
                     "fr": "Commutateur Quantum-2",
                     "es": "Conmutador Quantum-2", "ja": "Quantum-2 スイッチ", "zh": "Quantum-2 交换机",
                     "it": "Switch Quantum-2", "nl": "Quantum-2 switch", "pl": "Przełącznik Quantum-2",
                     "ko": "Quantum-2 스위치"}),
    "MMA4Z00-NS": ("nvidia-mma4z00-ns", 870, {"en": "Twin-port module", "de": "Twin-Port-Modul",
                   "fr": "Module double port",
                   "es": "Módulo de dos puertos", "ja": "ツインポートモジュール", "zh": "双端口光模块",
                   "it": "Modulo doppia porta", "nl": "Twin-port module", "pl": "Moduł dwuportowy",
                   "ko": "트윈포트 모듈"}),
    "MCX75310AAS-NEAT": ("nvidia-mcx75310aas-neat", 1500, {"en": "Network adapter card", "de": "Netzwerkkarte",
                         "fr": "Carte réseau",
                         "es": "Tarjeta de red", "ja": "ネットワークカード", "zh": "网卡",
                         "it": "Scheda di rete", "nl": "Netwerkkaart", "pl": "Karta sieciowa",
                         "ko": "네트워크 카드"}),
}  # fmt: skip
# What a description says instead of, or an addition says beside, the part.
INSTEAD = {
    "en": ["Rack and stack labour", "On-site installation, per unit", "Expedite fee", "Restocking fee 15 %",
           "NOS licence",
           "3-year NBD support for the unit", "Extended warranty to 5 years",
           "Price difference to the managed version",
           "Adder for reverse airflow", "Cancelled", "Superseded, see next line", "Not included in this offer",
           "Monthly rental",
           "Lot of 16", "Part of a set", "Spare fan", "Rail kit", "Configuration and staging", "Down payment 30 %",
           "Training, two days"],
    "de": ["Einbau und Verkabelungsarbeiten", "Montage vor Ort", "Expressgebühr", "Bearbeitungspauschale",
           "Softwarelizenz",
           "Wartungsvertrag 3 Jahre", "Garantieverlängerung auf 5 Jahre", "Aufpreis zur Standardausführung",
           "Mehrpreis Luftrichtung",
           "Storniert", "Ersetzt durch Nachfolger", "Nicht im Angebot enthalten", "Miete pro Monat",
           "Satz zu 16 Stück",
           "Teil eines Sets", "Ersatzlüfter", "Einbauschienen", "Inbetriebnahme", "Anzahlung 30 %",
           "Schulung, zwei Tage"],
    "fr": ["Main-d'œuvre de montage", "Installation sur site", "Frais d'expédition express", "Frais de dossier",
           "Licence logicielle",
           "Contrat de maintenance 3 ans", "Extension de garantie à 5 ans",
           "Supplément par rapport au modèle standard",
           "Différence de prix", "Annulé", "Remplacé par le modèle suivant", "Non inclus", "Location mensuelle",
           "Lot de 16",
           "Partie d'un ensemble", "Ventilateur de rechange", "Kit de rails", "Mise en service", "Acompte 30 %",
           "Formation de deux jours"],
    "es": ["Mano de obra", "Instalación en sitio", "Cargo por urgencia", "Gastos de gestión", "Licencia de software",
           "Contrato de mantenimiento, soporte 3 años", "Extensión de garantía a 5 años",
           "Suplemento sobre el modelo estándar",
           "Diferencia de precio", "Cancelado", "Sustituido por el modelo nuevo", "No incluido", "Alquiler mensual",
           "Lote de 16",
           "Parte de un conjunto", "Ventilador de repuesto", "Fuente de alimentación", "Puesta en marcha",
           "Anticipo 30 %",
           "Formación, dos días"],
    "ja": ["設置作業費", "現地施工", "特急手数料", "事務手数料", "ソフトウェアライセンス", "保守3年",
        "延長保証5年", "標準品との差額",
           "追加料金", "キャンセル", "廃番", "見積対象外", "レンタル", "16個セット", "一式", "交換用ファン",
           "レールキット",
           "設定作業", "手付金", "トレーニング"],
    "zh": ["安装调试服务", "现场施工", "加急费", "手续费", "软件许可", "维保三年", "延长保修五年",
        "与标准型号的差价", "附加费",
           "已取消", "作废", "不包含", "租赁", "16个装", "一套", "风扇模块", "导轨", "上架服务", "定金", "培训"],
}  # fmt: skip
# What honest lines say beside the part.
HONEST = {
    "en": ["", "{part}", "{part}, 1U", "{part}, incl. rail kit", "{part} for the spine layer",
           "{part} with dual power supplies",
           "{part} (no licence required)", "{part}, optics not included", "{part}, lifetime warranty",
           "{part}, RoHS", "{part} 800G",
           "{part}, ships from stock", "{part}; freight prepaid", "{part}, new, factory sealed",
           "{part}, no surcharge",
           "{part} for use with DGX H100"],
    "de": ["", "{part}", "{part}, 1 HE", "{part} inkl. Einbauschienen", "{part} für die Spine-Ebene",
           "{part} mit zwei Netzteilen",
           "{part} (keine Lizenz nötig)", "{part}, Neuware", "{part}, ohne Aufpreis", "{part}; frei Haus",
           "{part} 800G"],
    "fr": ["", "{part}", "{part}, 1U", "{part} avec kit de rails", "{part} pour la couche spine",
           "{part} avec double alimentation",
           "{part} (sans licence)", "{part}, neuf", "{part}, sans supplément", "{part}; port payé", "{part} 800G"],
    "es": ["", "{part}", "{part}, 1U", "{part} con rieles", "{part} para la capa spine",
           "{part} con dos fuentes de alimentación",
           "{part} (sin licencia)", "{part}, nuevo", "{part}, sin recargo", "{part}; portes pagados", "{part} 800G"],
    "ja": ["", "{part}", "{part} 1U", "{part} レール付", "{part} スパイン用", "{part} 800G", "{part} 新品",
        "{part} 保証1年"],
    "zh": ["", "{part}", "{part} 1U", "{part} 含导轨", "{part} 用于骨干层", "{part} 800G", "{part} 全新",
        "{part} 质保三年"],
}  # fmt: skip
REMARKS = {
    "en": [
        "",
        "In stock",
        "Made in Israel",
        "Delivery 6 weeks",
        "HS code 8517.62",
        "Minimum one",
        "Installation by customer",
    ],
    "de": ["", "ab Lager", "Zolltarifnr. 85176200", "Montage durch Kunden", "Lieferung frei Haus"],
    "fr": ["", "en stock", "code douanier 85176200", "livraison 6 semaines"],
    "es": ["", "en existencia", "entrega en 6 semanas"],
    "ja": ["", "在庫あり", "納期6週"],
    "zh": ["", "现货", "交期6周"],
}
# A title, and what it makes of prices without a sign: a currency, or nothing that is clear.
CURRENCIES = {
    "All prices in Australian dollars": "AUD", "Prices in Canadian Dollars": "CAD",
    "Alle Preise in Schweizer Franken": "CHF",
    "Preise in schwedischen Kronen": "SEK", "Prix en francs suisses": "CHF", "Prix en dollars canadiens": "CAD",
    "Precios en pesos mexicanos": "MXN", "Precios en dólares australianos": "AUD", "価格は豪ドルです": "AUD",
    "価格: シンガポールドル": "SGD",
    "币种：人民币": "CNY", "所有价格以港元计": "HKD", "Quotation (NZD)": "NZD", "Angebot SGD": "SGD",
        "Prix en francs": "",
    "Prices in pesos": "", "Quotation AUD or CAD": "", "Prices in Polish zloty": "PLN",
    "Preise in Tschechischen Kronen": "CZK",
    "Prices in UAE dirhams": "AED",
}  # fmt: skip


class Trap(NamedTuple):
    """A quote, the product of its line, and the dollars that it costs; None where no price may be taken in silence."""

    name: str
    text: str
    id: str
    usd: float | None
    rates: tuple[str, ...] = ()


def _number(value: float, language: str) -> str:
    _, thousands, decimals, _ = LANGUAGES[language]
    return f"{value:,.2f}".replace(",", "_").replace(".", decimals).replace("_", thousands)


def quote_of(language: str, part: str, description: str, price: float, remark: str = "", more: str = "") -> str:
    head, *_, delimiter = LANGUAGES[language]
    cells = [part, description, "10", _number(price, language), _number(10 * price, language), remark]
    line = delimiter.join(_cell(cell, delimiter) for cell in cells)
    return f"{head}\n{line}\n{more}"


def _cell(text: str, delimiter: str) -> str:
    return f'"{text}"' if delimiter in text else text


def word_traps() -> Iterator[Trap]:
    """Descriptions of something else by a part number, in each language."""
    parts = cycle(PARTS)
    for language, texts in INSTEAD.items():
        for text in texts:
            part = next(parts)
            id_, usd, _ = PARTS[part]
            yield Trap(f"{language}: {text}", quote_of(language, part, text, usd), id_, None)


def sum_traps() -> Iterator[Trap]:
    """Totals that do not fit, in each language; and the other product, or kind of product, in a description."""
    for language, total in zip(LANGUAGES, TOTALS, strict=True):
        for part, (id_, usd, _) in PARTS.items():
            delimiter = LANGUAGES[language][3]
            wrong = _number(10 * usd + 700, language)
            cells = ["", total, "", "", f'"{wrong}"' if delimiter in wrong else wrong]
            yield Trap(
                f"{language}: sum, {part}", quote_of(language, part, "", usd, more=delimiter.join(cells)), id_, None
            )
    for part, other in (("MQM9790-NS2F", "SN5600 switch"), ("MQM9790-NS2F", "800G transceiver"), ("MMA4Z00-NS",
    "MMS4X00-NS"),
                        ("MMA4Z00-NS", "800G DR8 module"), ("MCX75310AAS-NEAT",
                        "BlueField-3 B3140H 900-9D3D4-00NN-HA0 DPU"),
                        ("MMA4Z00-NS", "Active optical cable")):  # fmt: skip
        yield Trap(f"{part} is no {other}", quote_of("en", part, other, PARTS[part][1]), PARTS[part][0], None)


def currency_traps() -> Iterator[Trap]:
    """Currencies in titles: converted by a rate, or refused."""
    for (title, code), part in zip(CURRENCIES.items(), cycle(PARTS), strict=False):
        id_, usd, _ = PARTS[part]
        text = f'"{title}",,\n{quote_of("en", part, "", 2 * usd).replace(" USD", "")}'
        yield Trap(f"{title}: no rate", text, id_, None)
        if code:
            yield Trap(title, text, id_, usd, (f"{code}=0.5",))


def traps() -> list[Trap]:
    """All traps."""
    return [*word_traps(), *sum_traps(), *currency_traps()]


def honest() -> Iterator[Trap]:
    """Lines whose price is that of the part, in each language, with what quotes say beside."""
    for language, texts in HONEST.items():
        remarks = cycle(REMARKS[language])
        for text in texts:
            for part, (id_, usd, called) in PARTS.items():
                remark = next(remarks)
                if "optics" in text and "module" in called[language]:
                    continue
                quote = quote_of(language, part, text.format(part=called[language]), usd, remark)
                yield Trap(f"{language}: {part} {text} | {remark}", quote, id_, usd)
