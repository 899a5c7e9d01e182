"""Planners: how an agent's model thinks before it acts."""

from devui.runtime.planners.base_planner import BasePlanner
from devui.runtime.planners.built_in_planner import BuiltInPlanner
from devui.runtime.planners.plan_re_act_planner import PlanReActPlanner

__all__ = ["BasePlanner", "BuiltInPlanner", "PlanReActPlanner"]
