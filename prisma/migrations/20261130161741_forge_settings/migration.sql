-- CreateTable
CREATE TABLE "repository_settings" (
    "owner_id" TEXT NOT NULL,
    "forge" TEXT NOT NULL,
    "repository" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "automatic" JSONB,
    "post_as" TEXT,
    "comment_instead" BOOLEAN NOT NULL DEFAULT false,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "repository_settings_pkey" PRIMARY KEY ("owner_id","forge","repository")
);

-- CreateTable
CREATE TABLE "forge_states" (
    "forge" TEXT NOT NULL,
    "repository" TEXT NOT NULL,
    "identity" TEXT NOT NULL,
    "part" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3),

    CONSTRAINT "forge_states_pkey" PRIMARY KEY ("forge","repository","identity","part")
);

-- CreateTable
CREATE TABLE "forge_limits" (
    "forge" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "forge_limits_pkey" PRIMARY KEY ("forge","name")
);

-- CreateTable
CREATE TABLE "ci_heard" (
    "repository" TEXT NOT NULL,
    "sha" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ci_heard_pkey" PRIMARY KEY ("repository","sha")
);

-- CreateTable
CREATE TABLE "last_deliveries" (
    "forge" TEXT NOT NULL,
    "delivery" TEXT NOT NULL,
    "what" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "last_deliveries_pkey" PRIMARY KEY ("forge")
);

-- CreateIndex
CREATE INDEX "repository_settings_forge_repository_idx" ON "repository_settings"("forge", "repository");

-- CreateIndex
CREATE INDEX "ci_heard_at_idx" ON "ci_heard"("at");

-- CreateIndex
CREATE INDEX "rooms_repository_idx" ON "rooms"("repository");

-- AddForeignKey
ALTER TABLE "repository_settings" ADD CONSTRAINT "repository_settings_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
