"""Every route on one screen."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
