"""The HTTP client that google-genai brings along: httpx2, or httpx with its older versions."""

try:
    import httpx2 as httpx
except ImportError:
    import httpx  # type: ignore[no-redef, unused-ignore]  # the same names in the older one

__all__ = ["httpx"]
