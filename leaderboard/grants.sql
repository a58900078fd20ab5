-- The rights of every identity, one block each. This file is the matrix: `manage.py prepare` revokes everything and
-- grants exactly this, and a test compares the live rights of every role, table and column with it.
-- Form: GRANT <privileges, each with its columns or none> ON <table> TO <role>;
-- A table is named whole only where the identity may use every column of it. Hidden content is in no table.

-- web: serves pages, takes uploads, checks checkpoints. No exact score, no verdict, no worker's lease.
GRANT SELECT, INSERT, UPDATE, DELETE ON leaderboard_user TO heldout_web;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaderboard_user_groups TO heldout_web;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaderboard_user_user_permissions TO heldout_web;
GRANT SELECT, INSERT, UPDATE ON leaderboard_team TO heldout_web;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaderboard_membership TO heldout_web;
GRANT SELECT ON leaderboard_benchmark TO heldout_web;
GRANT SELECT ON leaderboard_release TO heldout_web;
GRANT SELECT ON leaderboard_preset TO heldout_web;
GRANT SELECT ON leaderboard_item TO heldout_web;
GRANT SELECT, INSERT, UPDATE ON leaderboard_upload TO heldout_web;
GRANT SELECT, INSERT, UPDATE (offset) ON leaderboard_uploadedfile TO heldout_web;
GRANT SELECT, INSERT ON leaderboard_checkpoint TO heldout_web;
GRANT SELECT, INSERT ON leaderboard_submission TO heldout_web;
GRANT SELECT, INSERT ON leaderboard_quotaentry TO heldout_web;
GRANT SELECT, INSERT, UPDATE (state, reason, finished_at, cancel_requested_at) ON leaderboard_run TO heldout_web;
GRANT SELECT ON leaderboard_attempt TO heldout_web;
GRANT SELECT ON leaderboard_practiceresult TO heldout_web;
GRANT SELECT ON leaderboard_releasedscore TO heldout_web;
GRANT INSERT (id, kind, subject, body) ON leaderboard_logentry TO heldout_web;
GRANT SELECT, INSERT, UPDATE, DELETE ON django_session TO heldout_web;
GRANT SELECT, INSERT ON django_admin_log TO heldout_web;
GRANT SELECT ON django_content_type TO heldout_web;
GRANT SELECT ON django_migrations TO heldout_web;
GRANT SELECT ON auth_permission TO heldout_web;
GRANT SELECT ON auth_group TO heldout_web;
GRANT SELECT ON auth_group_permissions TO heldout_web;
GRANT SELECT, INSERT, UPDATE, DELETE ON account_emailaddress TO heldout_web;
GRANT SELECT, INSERT, UPDATE, DELETE ON account_emailconfirmation TO heldout_web;
GRANT SELECT, INSERT, UPDATE, DELETE ON socialaccount_socialaccount TO heldout_web;
GRANT SELECT ON socialaccount_socialapp TO heldout_web;
GRANT SELECT, INSERT, UPDATE, DELETE ON socialaccount_socialtoken TO heldout_web;

-- curator: makes benchmarks, presets and releases. No run's outputs, no score of any run.
GRANT SELECT, INSERT ON leaderboard_benchmark TO heldout_curator;
GRANT SELECT, INSERT, UPDATE (state) ON leaderboard_release TO heldout_curator;
GRANT SELECT, INSERT ON leaderboard_preset TO heldout_curator;
GRANT SELECT, INSERT ON leaderboard_item TO heldout_curator;
GRANT INSERT (id, kind, subject, body) ON leaderboard_logentry TO heldout_curator;

-- runner: claims queued runs, writes what they gave. No grade, no answer, no other team's declaration.
GRANT SELECT ON leaderboard_benchmark TO heldout_runner;
GRANT SELECT ON leaderboard_release TO heldout_runner;
GRANT SELECT ON leaderboard_preset TO heldout_runner;
GRANT SELECT (id, release_id, index, split, kind, category) ON leaderboard_item TO heldout_runner;
GRANT SELECT (id, team_id, manifest, manifest_digest, facts, size) ON leaderboard_checkpoint TO heldout_runner;
GRANT SELECT (id, team_id, checkpoint_id, release_id, preset_id) ON leaderboard_submission TO heldout_runner;
GRANT SELECT, INSERT ON leaderboard_quotaentry TO heldout_runner;
GRANT SELECT, UPDATE (state, reason, not_before, started_at, sealed_at, finished_at, attempt, fence, lease_owner, lease_until, progress_done, progress_total, runspec_digest, outputs_digest, outputs_sealed) ON leaderboard_run TO heldout_runner;
GRANT SELECT, INSERT, UPDATE (runspec, runspec_digest, facts, ended_at, ending) ON leaderboard_attempt TO heldout_runner;
GRANT INSERT ON leaderboard_practiceresult TO heldout_runner;
GRANT INSERT (id, kind, subject, body) ON leaderboard_logentry TO heldout_runner;

-- grader: claims sealed runs, writes grades and released scores. No prompt, no checkpoint, no container.
GRANT SELECT ON leaderboard_benchmark TO heldout_grader;
GRANT SELECT ON leaderboard_release TO heldout_grader;
GRANT SELECT ON leaderboard_preset TO heldout_grader;
GRANT SELECT (id, team_id, release_id, preset_id) ON leaderboard_submission TO heldout_grader;
GRANT SELECT, INSERT ON leaderboard_quotaentry TO heldout_grader;
GRANT SELECT, UPDATE (state, reason, not_before, finished_at, grading_attempt, fence, lease_owner, lease_until) ON leaderboard_run TO heldout_grader;
GRANT SELECT (id, run_id, kind, number, fence, ended_at), INSERT, UPDATE (facts, ended_at, ending) ON leaderboard_attempt TO heldout_grader;
GRANT SELECT, INSERT ON leaderboard_grade TO heldout_grader;
GRANT SELECT, INSERT ON leaderboard_releasedscore TO heldout_grader;
GRANT INSERT (id, kind, subject, body) ON leaderboard_logentry TO heldout_grader;

-- auditor: reads every record of ours, writes only the log. Nobody's password, session or mail address.
GRANT SELECT ON leaderboard_benchmark TO heldout_auditor;
GRANT SELECT ON leaderboard_release TO heldout_auditor;
GRANT SELECT ON leaderboard_preset TO heldout_auditor;
GRANT SELECT ON leaderboard_item TO heldout_auditor;
GRANT SELECT ON leaderboard_team TO heldout_auditor;
GRANT SELECT ON leaderboard_checkpoint TO heldout_auditor;
GRANT SELECT ON leaderboard_submission TO heldout_auditor;
GRANT SELECT ON leaderboard_quotaentry TO heldout_auditor;
GRANT SELECT ON leaderboard_run TO heldout_auditor;
GRANT SELECT ON leaderboard_attempt TO heldout_auditor;
GRANT SELECT ON leaderboard_practiceresult TO heldout_auditor;
GRANT SELECT ON leaderboard_grade TO heldout_auditor;
GRANT SELECT ON leaderboard_releasedscore TO heldout_auditor;
GRANT SELECT, INSERT (id, kind, subject, body) ON leaderboard_logentry TO heldout_auditor;

-- launcher: reads the claimed run and what to mount for it. Nothing else, and writes nothing.
GRANT SELECT (id, submission_id, state, attempt, fence, lease_until) ON leaderboard_run TO heldout_launcher;
GRANT SELECT (id, checkpoint_id) ON leaderboard_submission TO heldout_launcher;
GRANT SELECT (id, manifest, manifest_digest) ON leaderboard_checkpoint TO heldout_launcher;

-- clock: gives expired leases back and repeats hints.
GRANT SELECT, UPDATE (state, reason, not_before, finished_at, fence, lease_owner, lease_until) ON leaderboard_run TO heldout_clock;
GRANT SELECT (id, run_id, fence, ended_at), UPDATE (ended_at, ending) ON leaderboard_attempt TO heldout_clock;
GRANT SELECT, INSERT ON leaderboard_quotaentry TO heldout_clock;
GRANT SELECT (id, state, checking_until, closed_at) ON leaderboard_upload TO heldout_clock;
GRANT INSERT (id, kind, subject, body) ON leaderboard_logentry TO heldout_clock;
