"""Programs that speak the protocol of ``weir bench peers`` for one engine each: ``python -m`` or ``node``."""
