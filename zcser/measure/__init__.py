"""Floor 5: the measuring core. It knows the codec interface, and no codec."""
