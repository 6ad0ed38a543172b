import { expect, test } from "vitest";
import { recordsAfter } from "../../workflows/room/record.js";
import { aRoom } from "../support/room.js";

const twoRounds = () =>
  aRoom()
    .join("ana", "grok")
    .open("ana")
    .submit("ana", { findings: [{}] })
    .submit("grok", { findings: [{}], verdict: "request_changes" })
    .close("ana")
    .push("b2")
    .open("ana");

test("K1: the record of a round keeps its reviews and findings once the next one opens", () => {
  const room = twoRounds();
  expect(room.records.map((record) => record.round.number)).toEqual([1]);
  expect(room.records[0]!.round.reviews.map((review) => review.by)).toEqual(["ag_ana", "ag_grok"]);
  expect(room.records[0]!.findings.map((finding) => finding.id)).toEqual(["f1", "f2"]);
  expect(room.state.round!.reviews).toEqual([]);
});

test("R6: a deleted agent's reviews and findings leave the records too", () => {
  const room = twoRounds().delete("grok");
  expect(room.records[0]!.round.reviews.map((review) => review.by)).toEqual(["ag_ana"]);
  expect(room.records[0]!.findings.map((finding) => finding.id)).toEqual(["f1"]);
  expect(room.state.findings.map((finding) => finding.id)).toEqual(["f1"]);
});

test("D6: a record keeps how its draft ended when a newer round's draft takes its place", () => {
  const room = aRoom().join("ana").open("ana").submit("ana").close("ana").draft("ana").push("b2").open("ana").post();
  expect(room.records[0]!.draft?.posting.status).toBe("draft");
  room.submit("ana").close("ana").draft("ana");
  expect(room.records[0]!.draft?.posting.status).toBe("posted");
  expect(room.state.draft?.round).toBe(2);
});

test("R6: a posted draft keeps its ids when an agent is deleted, an unposted one loses them", () => {
  const merged = { findings: [{ findings: ["f1"], raisedBy: ["ag_grok"] }] };
  const drafted = () =>
    aRoom().join("ana", "grok").open("ana").submit("ana").submit("grok", { findings: [{}] }).close("ana").draft("ana", merged);
  expect(drafted().delete("grok").state.draft!.findings[0]).toMatchObject({ findings: [], raisedBy: [] });
  expect(drafted().post().delete("grok").state.draft!.findings[0]).toMatchObject({ findings: ["f1"], raisedBy: ["ag_grok"] });
});

test("an event that concerns no earlier round leaves the records as they are", () => {
  const room = twoRounds();
  expect(recordsAfter(room.records, room.state, { type: "ParticipantLeft", id: "ag_ana", at: room.now })).toBe(room.records);
});
