import type { ReviewToPost } from '../../activities/forge/port.js';

/** A review as a forge is handed it; what the forge refuses of it is listed below its body. */
export function aReview(more: Partial<ReviewToPost> & Pick<ReviewToPost, 'marker' | 'headSha'>): ReviewToPost {
  const review = { verdict: 'comment' as const, body: 'Fine.', comments: [], fileComments: [], ...more };
  const remarks = [...review.comments, ...review.fileComments];
  const listed = (refused: ReadonlySet<number>) =>
    remarks.flatMap((remark, index) =>
      refused.has(index) ? [`- \`${remark.path}${'line' in remark ? `:${remark.line}` : ''}\`: ${remark.body}`] : [],
    );
  return { bodyWithout: (refused) => [review.body, '### Without a place', listed(refused).join('\n')].join('\n\n'), ...review };
}
