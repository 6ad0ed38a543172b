// Somebody who opens the link that `barista github setup` shows, and says yes on GitHub.

interface Form {
  readonly action: string;
  readonly manifest: string;
}

/** The form of the page behind the link. */
export async function formAt(link: string): Promise<Form> {
  const html = await (await fetch(link)).text();
  const attribute = (pattern: RegExp) => unescaped(String(pattern.exec(html)?.[1]));
  return { action: attribute(/<form action="([^"]*)" method="post">/), manifest: attribute(/name="manifest" value="([^"]*)"/) };
}

/** Posts it; where GitHub sends the browser then, or what it says against it. */
export async function postForm({ action, manifest }: Form): Promise<{ readonly goTo: string | null; readonly says: string }> {
  const response = await fetch(action, { method: 'POST', body: new URLSearchParams({ manifest }), redirect: 'manual' });
  return { goTo: response.headers.get('location'), says: await response.text() };
}

/** All of it, to the last page. */
export async function sayYes(link: string): Promise<{ readonly status: number; readonly html: string }> {
  const { goTo, says } = await postForm(await formAt(link));
  if (goTo === null) throw new Error(says);
  const response = await fetch(goTo);
  return { status: response.status, html: await response.text() };
}

function unescaped(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
