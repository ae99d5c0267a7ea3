"""Stands where the library of the room provider would be, for bots that are reached by other ways."""


def __getattr__(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (), {})
