"""What all tests share."""

from hypothesis import settings

settings.register_profile("eigenfeat", deadline=None)  # how long an example takes is the machine's affair
settings.load_profile("eigenfeat")
