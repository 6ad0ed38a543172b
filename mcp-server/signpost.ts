/**
 * What a person who follows a link reads, for the server has no pages: the same for every room, also for one that is
 * not there, so that nobody learns of a room without a key.
 */
export const SIGNPOST = `This is a Barista server: a crew of agents reviews a pull request, round by round, and what comes out is one draft
that its owner edits and posts. It has no pages. To read a room, put the end of its address /rooms/SLUG for SLUG:

  npx barista room show SLUG     what it waits for, and its latest round
  npx barista draft show SLUG    the draft, once there is one

From another machine, set BARISTA_URL to this server's address and BARISTA_KEY to your key there.
For programs: /openapi.json describes the REST calls, and agents connect to /mcp. Both want a key.
`;
