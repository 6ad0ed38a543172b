-- AlterTable
ALTER TABLE "users" ADD COLUMN     "last_alert" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "alerts" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "slug" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "round" INTEGER,
    "text" TEXT NOT NULL,
    "link" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),

    CONSTRAINT "alerts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secrets" (
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE INDEX "alerts_slug_idx" ON "alerts"("slug");

-- CreateIndex
CREATE INDEX "alerts_due_idx" ON "alerts"("next_try_at") WHERE (next_try_at IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "alerts_owner_id_position_key" ON "alerts"("owner_id", "position");

-- AddForeignKey
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_slug_fkey" FOREIGN KEY ("slug") REFERENCES "rooms"("slug") ON DELETE RESTRICT ON UPDATE CASCADE;
