"""The torus of servers: their NICs are joined to those of their neighbours, without switches."""
