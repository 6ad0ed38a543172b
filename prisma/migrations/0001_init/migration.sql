-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "key_kind" AS ENUM ('key', 'session', 'link');

-- CreateEnum
CREATE TYPE "message_kind" AS ENUM ('message', 'note');

-- CreateTable
CREATE TABLE "users" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agents" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "agents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "keys" (
    "hash" TEXT NOT NULL,
    "kind" "key_kind" NOT NULL,
    "user_id" TEXT,
    "agent_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "keys_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "repository_links" (
    "owner_id" TEXT NOT NULL,
    "forge" TEXT NOT NULL,
    "repository" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "repository_links_pkey" PRIMARY KEY ("owner_id","forge","repository")
);

-- CreateTable
CREATE TABLE "rooms" (
    "slug" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "forge" TEXT NOT NULL,
    "pull_request_key" TEXT NOT NULL,
    "repository" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "recipe" TEXT NOT NULL,
    "another" BOOLEAN NOT NULL,
    "seq" INTEGER NOT NULL DEFAULT 0,
    "state" JSONB,
    "phase" TEXT NOT NULL DEFAULT 'waiting_for_crew',
    "round" INTEGER NOT NULL DEFAULT 0,
    "chips" TEXT[],
    "waiting_on" TEXT[],
    "last_message_id" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "rooms_pkey" PRIMARY KEY ("slug")
);

-- CreateTable
CREATE TABLE "room_events" (
    "slug" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "body" JSONB NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "room_events_pkey" PRIMARY KEY ("slug","seq")
);

-- CreateTable
CREATE TABLE "round_records" (
    "slug" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "record" JSONB NOT NULL,

    CONSTRAINT "round_records_pkey" PRIMARY KEY ("slug","number")
);

-- CreateTable
CREATE TABLE "room_participants" (
    "slug" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "roles" TEXT[],
    "present" BOOLEAN NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "room_participants_pkey" PRIMARY KEY ("slug","id")
);

-- CreateTable
CREATE TABLE "texts" (
    "slug" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "by" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "accepted" BOOLEAN NOT NULL DEFAULT false,
    "touched_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "texts_pkey" PRIMARY KEY ("slug","id")
);

-- CreateTable
CREATE TABLE "messages" (
    "slug" TEXT NOT NULL,
    "id" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "from_id" TEXT,
    "from_name" TEXT NOT NULL,
    "kind" "message_kind" NOT NULL,
    "text" TEXT NOT NULL,
    "mentions" TEXT[],
    "event" TEXT,
    "request_id" TEXT,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("slug","id")
);

-- CreateTable
CREATE TABLE "review_spans" (
    "slug" TEXT NOT NULL,
    "round" INTEGER NOT NULL,
    "participant" TEXT NOT NULL,
    "from_at" TIMESTAMPTZ(3) NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "review_spans_pkey" PRIMARY KEY ("slug","round","participant","from_at")
);

-- CreateTable
CREATE TABLE "shown" (
    "slug" TEXT NOT NULL,
    "round" INTEGER NOT NULL,
    "participant" TEXT NOT NULL,
    "path_hash" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "facts" JSONB NOT NULL,

    CONSTRAINT "shown_pkey" PRIMARY KEY ("slug","round","participant","path_hash")
);

-- CreateTable
CREATE TABLE "kept_reads" (
    "repository" TEXT NOT NULL,
    "base_sha" TEXT NOT NULL,
    "head_sha" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "kept_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "kept_reads_pkey" PRIMARY KEY ("repository","base_sha","head_sha","kind")
);

-- CreateTable
CREATE TABLE "intents" (
    "id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "flushed_at" TIMESTAMPTZ(3),

    CONSTRAINT "intents_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_name_key" ON "users"("name");

-- CreateIndex
CREATE UNIQUE INDEX "agents_live_name_key" ON "agents"("owner_id", "name") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "keys_user_id_idx" ON "keys"("user_id");

-- CreateIndex
CREATE INDEX "keys_agent_id_idx" ON "keys"("agent_id");

-- CreateIndex
CREATE INDEX "keys_expires_at_idx" ON "keys"("expires_at");

-- CreateIndex
CREATE INDEX "rooms_pull_request_key_idx" ON "rooms"("pull_request_key");

-- CreateIndex
CREATE INDEX "rooms_owner_id_created_at_idx" ON "rooms"("owner_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "rooms_live_pull_request_key" ON "rooms"("owner_id", "pull_request_key") WHERE (NOT another AND ended_at IS NULL);

-- CreateIndex
CREATE INDEX "room_participants_id_idx" ON "room_participants"("id");

-- CreateIndex
CREATE INDEX "texts_staged_idx" ON "texts"("touched_at") WHERE (NOT accepted);

-- CreateIndex
CREATE INDEX "messages_slug_from_id_id_idx" ON "messages"("slug", "from_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "messages_slug_from_id_request_id_key" ON "messages"("slug", "from_id", "request_id");

-- CreateIndex
CREATE INDEX "intents_created_at_idx" ON "intents"("created_at");

-- CreateIndex
CREATE INDEX "intents_slug_idx" ON "intents"("slug");

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "keys" ADD CONSTRAINT "keys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "keys" ADD CONSTRAINT "keys_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "repository_links" ADD CONSTRAINT "repository_links_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rooms" ADD CONSTRAINT "rooms_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "room_events" ADD CONSTRAINT "room_events_slug_fkey" FOREIGN KEY ("slug") REFERENCES "rooms"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "round_records" ADD CONSTRAINT "round_records_slug_fkey" FOREIGN KEY ("slug") REFERENCES "rooms"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "room_participants" ADD CONSTRAINT "room_participants_slug_fkey" FOREIGN KEY ("slug") REFERENCES "rooms"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "texts" ADD CONSTRAINT "texts_slug_fkey" FOREIGN KEY ("slug") REFERENCES "rooms"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_slug_fkey" FOREIGN KEY ("slug") REFERENCES "rooms"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "review_spans" ADD CONSTRAINT "review_spans_slug_fkey" FOREIGN KEY ("slug") REFERENCES "rooms"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "shown" ADD CONSTRAINT "shown_slug_fkey" FOREIGN KEY ("slug") REFERENCES "rooms"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "intents" ADD CONSTRAINT "intents_slug_fkey" FOREIGN KEY ("slug") REFERENCES "rooms"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;
