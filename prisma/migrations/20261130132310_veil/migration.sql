-- AlterTable
ALTER TABLE "messages" ADD COLUMN     "veil_round" INTEGER,
ADD COLUMN     "veil_text" TEXT;
