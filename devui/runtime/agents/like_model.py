"""What pydantic's models have, for a dataclass that code takes for one (devui's own)."""

import copy
from collections.abc import Container, Mapping
from dataclasses import MISSING, Field
from typing import Any, ClassVar, Self

from pydantic import BaseModel


class _Fields:
    """The fields of a class by name, for `model_fields` of it."""

    def __get__(self, instance: object, owner: "type[LikeModel]") -> Mapping[str, Field[Any]]:
        return {name: each for name, each in owner.__dataclass_fields__.items() if each.init}


class LikeModel:
    """Makes copies as a model does, and tells its fields."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    model_fields: ClassVar[_Fields] = _Fields()
    """The fields that can be given, by name."""

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:
        """Make one of what is given: what is missing is None, what is unknown is left out."""
        missing = {name: None for name, each in cls.model_fields.items() if _is_needed(each)}
        known = {name: value for name, value in values.items() if name in cls.model_fields}
        return cls(**missing | known)

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """A copy that shares what its fields hold; raises TypeError on unknown fields."""
        copied = copy.copy(self)
        for name, value in (update or {}).items():
            if name not in self.__dataclass_fields__:
                raise TypeError(f"{type(self).__name__} has no field {name!r}.")
            setattr(copied, name, value)
        return copied

    def model_dump(
        self,
        *,
        include: Container[str] | None = None,
        exclude: Container[str] = (),
        **how: Any,
    ) -> dict[str, Any]:
        """The fields as a dict; models in them as dicts, made with `how`, the rest as it is."""
        return {
            name: value.model_dump(**how) if isinstance(value, BaseModel) else value
            for name, value in ((name, vars(self)[name]) for name in self.model_fields)
            if (include is None or name in include) and name not in exclude
        }


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
