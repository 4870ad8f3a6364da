"""Words by which a row is a sum, a unit of measure is one piece, or a price is in that of another line."""

from __future__ import annotations

import re

SUM = re.compile(
    r"\W*(?:sub\W?-?totals?|(?:grand |net |section |line |page )?totals?|sums?|summe|zwischen(?:summe|"
    r"total)|amount due|"
    r"gesamt(?:summe|betrag|preis)?|[^\W\d_]+(?:summe|betrag)(?: (?:brutto|netto))?|"
    r"(?:net|netto|brutto)(?:summe|betrag|gesamt)?|sous-total|montant|"
    r"(?:carried|brought) forward|übertrag|(?:(?:plus|zzgl|inkl|incl)\W+)?(?:[0-9.,]+\s?%\s?)?"
    r"(?:vat|mwst|ust|tva|gst|iva|btw|(?:sales )?tax(?:es)?|umsatzsteuer|mehrwertsteuer)|base imponible|"
    r"(?:importe |valor )?total(?:e|es|t)?|totaal|subtotale|razem|summa|suma|moms|impostos|icms|小計|合計|"
    r"総計|総額|消費税|税込合計|"
    r"소계|합계|총계|총액|부가세|부가가치세|"
    r"不?(?:含税)?(?:合计|总计|小计|总价|税额|增值税))"
    r"(?![\w-]*[0-9])(?!\w)",
    re.IGNORECASE,
)
SUM_AT_END = re.compile(r".*\b(?:sub-?total|total|gesamt|summe)\W*$", re.IGNORECASE)
# Units of measure that are one of what is sold.
ONE = re.compile(
    r"\W*(?:1|c62|each|eaches|ea|pcs?|pces?|pieces?|units?|st|stk|stück|stueck|stck|u|un|unités?|pz|no|nos|item|qty|uds?|unidad(?:es)?|stuks?|pezz[oi]|unid|pç|pc\.?a|szt|[个台件只条块根個本枚式개대])\W*",
    re.IGNORECASE,
)
INCLUDED = re.compile(
    r"\W*(?:incl\w*|inkl\w*|inbegriffen|enthalten|compris|inclu[sí]\w*|in (?:price|preis|above)|bundled|"
    r"包含|含|込み?)\b",
    re.IGNORECASE,
)
