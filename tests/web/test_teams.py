"""Teams, roles and the operators' desk."""

from __future__ import annotations

import pytest
from django.urls import reverse

from leaderboard.models import LogEntry, Membership, Run, Team, User
from leaderboard.web.admin import operators
from tests.cast import Cast
from tests.web.conftest import Visitor


def role_of(cast: Cast, team: Team, name: str) -> str | None:
    found = Membership.objects.filter(team=team, user=cast.people[name]).values_list("role", flat=True).first()
    return None if found is None else str(found)


def test_only_operators_make_teams(cast: Cast) -> None:
    for who in ("competitor", "captain", "auditor", "curator", "stranger"):
        assert Visitor(cast.people[who]).post("/teams/", {"name": "Mine"}).status_code == 404
    Visitor(cast.operator).post("/teams/", {"name": "Cassiopeia"})
    assert role_of(cast, Team.objects.get(slug="cassiopeia"), "operator") == "admin"


def test_an_admin_of_the_team_adds_changes_and_removes_people(cast: Cast) -> None:
    captain = Visitor(cast.captain)
    captain.post("/teams/aurora/role", {"username": "stranger", "role": "competitor"})
    assert role_of(cast, cast.aurora, "stranger") == "competitor"
    captain.post("/teams/aurora/role", {"username": "stranger", "role": "admin"})
    assert role_of(cast, cast.aurora, "stranger") == "admin"
    captain.post("/teams/aurora/remove", {"username": "stranger"})
    assert role_of(cast, cast.aurora, "stranger") is None
    kinds = LogEntry.objects.filter(subject=cast.aurora.pk).values_list("kind", flat=True)
    assert sorted(kinds) == ["team.remove", "team.role", "team.role"]


def test_a_member_does_not(cast: Cast) -> None:
    answer = Visitor(cast.competitor).post("/teams/aurora/role", {"username": "competitor", "role": "admin"})
    assert answer.status_code == 404
    assert role_of(cast, cast.aurora, "competitor") == "competitor"


@pytest.mark.parametrize("role", ["curator", "auditor", "superuser", ""])
def test_a_team_gives_no_role_of_the_host(cast: Cast, role: str) -> None:
    Visitor(cast.captain).post("/teams/aurora/role", {"username": "competitor", "role": role})
    assert role_of(cast, cast.aurora, "competitor") == "competitor"


def test_the_last_admin_stays(cast: Cast) -> None:
    captain = Visitor(cast.captain)
    captain.post("/teams/aurora/role", {"username": "captain", "role": "competitor"})
    captain.post("/teams/aurora/remove", {"username": "captain"})
    assert role_of(cast, cast.aurora, "captain") == "admin"
    assert "keeps at least one admin" in captain.text("/teams/aurora/")


def test_a_curator_s_role_counts_in_the_host_team_only(cast: Cast) -> None:
    Membership.objects.create(team=cast.borealis, user=cast.stranger, role="auditor")  # as if it slipped in
    run = cast.queued(cast.aurora)
    assert Visitor(cast.stranger).get(f"/runs/{run.pk}/").status_code == 404


def a_superuser(cast: Cast) -> Visitor:
    User.objects.filter(pk=cast.operator.pk).update(is_staff=True, is_superuser=True)
    return Visitor(User.objects.get(pk=cast.operator.pk))


def test_every_page_of_the_desk_opens_for_an_operator(cast: Cast) -> None:
    run = cast.scored("0.5", name="m")
    visitor = a_superuser(cast)
    for model in operators._registry:
        name = f"admin:leaderboard_{model._meta.model_name}"
        assert visitor.get(reverse(f"{name}_changelist")).status_code == 200, name
    assert visitor.get(reverse("admin:leaderboard_run_change", args=[run.pk])).status_code == 200
    assert visitor.get(reverse("admin:leaderboard_user_change", args=[cast.rival.pk])).status_code == 200


def test_what_happened_can_not_be_changed_or_deleted_there(cast: Cast) -> None:
    run = cast.scored("0.5", name="m")
    visitor = a_superuser(cast)
    for kind in ("run", "submission", "releasedscore", "checkpoint", "attempt", "release", "benchmark"):
        for action in ("change", "delete"):
            path = reverse(f"admin:leaderboard_{kind}_{action}", args=[run.pk])
            assert visitor.post(path, {"state": "queued", "post": "yes"}).status_code in {302, 403}, (kind, action)
        assert visitor.get(reverse(f"admin:leaderboard_{kind}_add")).status_code == 403
    assert Run.objects.get().state == "scored"
    for kind, row in (("team", cast.aurora), ("user", cast.rival)):
        path = reverse(f"admin:leaderboard_{kind}_delete", args=[row.pk])
        assert visitor.post(path, {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("who", ["competitor", "captain", "curator", "auditor"])
def test_the_desk_is_closed_to_everybody_else(cast: Cast, who: str) -> None:
    answer = Visitor(cast.people[who]).get("/admin/")
    assert answer.status_code in {302, 403}


def test_an_operator_makes_a_person_and_gives_a_role(cast: Cast) -> None:
    visitor = a_superuser(cast)
    form = {"username": "newcomer", "password1": "a long enough pass phrase", "password2": "a long enough pass phrase",
            "usable_password": "true"}  # fmt: skip
    answer = visitor.post(reverse("admin:leaderboard_user_add"), form)
    assert answer.status_code == 302, answer.content
    person = User.objects.get(username="newcomer")
    form = {"team": cast.host.pk, "user": person.pk, "role": "auditor"}
    visitor.post(reverse("admin:leaderboard_membership_add"), form)
    assert Membership.objects.filter(user=person, role="auditor").exists()


def test_the_desk_s_lists_do_not_ask_for_each_row(cast: Cast, django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(10):
        cast.scored("0.5", name=f"m{number}")
    visitor = a_superuser(cast)
    for kind in ("run", "submission", "checkpoint", "upload", "membership", "release", "releasedscore", "attempt"):
        with django_assert_max_num_queries(11):
            visitor.text(reverse(f"admin:leaderboard_{kind}_changelist"))
