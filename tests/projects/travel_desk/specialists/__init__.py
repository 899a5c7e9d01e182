from .flights import flights_agent as flights_agent
from .hotels import hotels_agent as hotels_agent
