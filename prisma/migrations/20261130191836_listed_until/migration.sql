-- AlterTable
ALTER TABLE "rooms" ADD COLUMN     "listed_until" TIMESTAMPTZ(3);

-- What lists say of these may have changed since their last event: it is worked out anew until the next one.
UPDATE "rooms" SET "listed_until" = "created_at" WHERE "ended_at" IS NULL AND "phase" IN ('reviewing', 'waiting_for_answers');
