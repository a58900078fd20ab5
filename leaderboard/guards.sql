-- What the database refuses whatever the program says. Applied after every migration by `manage.py prepare`.
-- The placeholder in heldout_guard_run stands for the table of evaluator/records/lifecycle.py, one row per move and identity.

-- Who did it and when is the database's to say: a writer can neither pose as another nor backdate.
CREATE OR REPLACE FUNCTION heldout_stamp_entry() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    NEW.actor := session_user;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

-- Written once, kept for good: no update and no delete, whoever asks (a superuser can drop the trigger; the log's
-- outside checkpoints are the answer to that).
CREATE OR REPLACE FUNCTION heldout_append_only() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'HO001';
END $$;

-- A run moves only along the table, only by the identity named there, and only under the present fencing token.
CREATE OR REPLACE FUNCTION heldout_guard_run() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    presented bigint := NULLIF(current_setting('heldout.fence', true), '')::bigint;
BEGIN
    IF NEW.id <> OLD.id OR NEW.submission_id <> OLD.submission_id OR NEW.queued_at <> OLD.queued_at THEN
        RAISE EXCEPTION 'a run keeps its submission' USING ERRCODE = 'HO002';
    END IF;
    IF NEW.fence < OLD.fence OR NEW.attempt < OLD.attempt OR NEW.grading_attempt < OLD.grading_attempt THEN
        RAISE EXCEPTION 'fences and attempts only rise' USING ERRCODE = 'HO003';
    END IF;
    IF OLD.state IN ('running', 'grading') AND session_user IN ('heldout_runner', 'heldout_grader')
       AND presented IS DISTINCT FROM OLD.fence THEN
        RAISE EXCEPTION 'stale fencing token' USING ERRCODE = 'HO004';
    END IF;
    IF NEW.state <> OLD.state AND NOT EXISTS (
        SELECT 1 FROM (VALUES {{moves}}) AS move (before, after, role)
        WHERE move.before = OLD.state AND move.after = NEW.state AND move.role = session_user
    ) THEN
        RAISE EXCEPTION '% may not move a run from % to %', session_user, OLD.state, NEW.state USING ERRCODE = 'HO005';
    END IF;
    IF NEW.state <> OLD.state AND NEW.state IN ('running', 'grading') AND NEW.fence <> OLD.fence + 1 THEN
        RAISE EXCEPTION 'a claim raises the fence by one' USING ERRCODE = 'HO003';
    END IF;
    IF NEW.state = OLD.state AND OLD.state IN ('scored', 'failed', 'void', 'cancelled') THEN
        RAISE EXCEPTION 'a finished run does not change' USING ERRCODE = 'HO006';
    END IF;
    RETURN NEW;
END $$;

-- Grades, released scores and practice results belong to a run that is being graded or run under the writer's token.
CREATE OR REPLACE FUNCTION heldout_guard_grade() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM public.leaderboard_run
        WHERE id = NEW.run_id AND state = 'grading'
          AND fence = NULLIF(current_setting('heldout.fence', true), '')::bigint
    ) THEN
        RAISE EXCEPTION 'stale fencing token' USING ERRCODE = 'HO004';
    END IF;
    RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION heldout_guard_grade() FROM PUBLIC;

-- A RunSpec is fixed once; an attempt ends once.
CREATE OR REPLACE FUNCTION heldout_guard_attempt() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF NEW.id <> OLD.id OR NEW.run_id <> OLD.run_id OR NEW.fence <> OLD.fence OR NEW.number <> OLD.number THEN
        RAISE EXCEPTION 'an attempt keeps its run and token' USING ERRCODE = 'HO002';
    END IF;
    IF OLD.runspec_digest <> '' AND (NEW.runspec_digest <> OLD.runspec_digest
       OR NEW.runspec IS DISTINCT FROM OLD.runspec) THEN
        RAISE EXCEPTION 'a RunSpec is fixed once' USING ERRCODE = 'HO007';
    END IF;
    IF OLD.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'an attempt ends once' USING ERRCODE = 'HO007';
    END IF;
    RETURN NEW;
END $$;

-- A release is immutable but for its state, which goes frozen, active, retired.
CREATE OR REPLACE FUNCTION heldout_guard_release() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF (to_jsonb(NEW) - 'state') <> (to_jsonb(OLD) - 'state') THEN
        RAISE EXCEPTION 'a frozen release does not change' USING ERRCODE = 'HO008';
    END IF;
    IF (OLD.state, NEW.state) NOT IN (('frozen', 'active'), ('active', 'retired'), ('frozen', 'retired')) THEN
        RAISE EXCEPTION 'a release goes frozen, active, retired' USING ERRCODE = 'HO008';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER stamp_entry BEFORE INSERT ON leaderboard_logentry
    FOR EACH ROW EXECUTE FUNCTION heldout_stamp_entry();
CREATE OR REPLACE TRIGGER guard_run BEFORE UPDATE ON leaderboard_run
    FOR EACH ROW EXECUTE FUNCTION heldout_guard_run();
CREATE OR REPLACE TRIGGER guard_attempt BEFORE UPDATE ON leaderboard_attempt
    FOR EACH ROW EXECUTE FUNCTION heldout_guard_attempt();
CREATE OR REPLACE TRIGGER guard_grade BEFORE INSERT ON leaderboard_grade
    FOR EACH ROW EXECUTE FUNCTION heldout_guard_grade();
CREATE OR REPLACE TRIGGER guard_grade BEFORE INSERT ON leaderboard_releasedscore
    FOR EACH ROW EXECUTE FUNCTION heldout_guard_grade();
CREATE OR REPLACE TRIGGER guard_release BEFORE UPDATE ON leaderboard_release
    FOR EACH ROW EXECUTE FUNCTION heldout_guard_release();

CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON leaderboard_logentry
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON leaderboard_grade
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON leaderboard_releasedscore
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON leaderboard_submission
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON leaderboard_quotaentry
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON leaderboard_item
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE ON leaderboard_practiceresult
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER no_delete BEFORE DELETE ON leaderboard_run
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER no_delete BEFORE DELETE ON leaderboard_attempt
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER no_delete BEFORE DELETE ON leaderboard_release
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
CREATE OR REPLACE TRIGGER no_delete BEFORE DELETE ON leaderboard_checkpoint
    FOR EACH ROW EXECUTE FUNCTION heldout_append_only();
