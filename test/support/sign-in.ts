/** The name and value of a cookie. */
const pairOf = (cookie: string): [string, string] => {
  const pair = cookie.split(';', 1)[0] ?? ''
  return [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
}

/** Sends one request, and follows no redirect. */
type Send = (
  url: string,
  init: RequestInit,
) => Promise<{ readonly status: number; readonly headers: Headers; readonly body: string }>

async function sendByFetch(url: string, init: RequestInit): ReturnType<Send> {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/** A browser without scripts that uses a running server. */
export function createHttpBrowser(send: Send = sendByFetch) {
  const jar = new Map<string, string>()

  /** Follows redirects up to the first page, or to a URL that `stopsAt` names. */
  async function visit(url: string, stopsAt: string, form?: Readonly<Record<string, string>>) {
    let target = url
    let body = form && new URLSearchParams(form)
    for (let redirects = 0; redirects < 10; redirects += 1) {
      const {
        status,
        headers,
        body: html,
      } = await send(target, {
        redirect: 'manual',
        headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
        ...(body !== undefined && { method: 'POST', body }),
      })
      for (const [name, value] of headers.getSetCookie().map(pairOf)) jar.set(name, value)
      const location = headers.get('location')
      if (location === null) return { status, url: target, html }
      if (location.startsWith(stopsAt)) return { status, url: location, html }
      target = location
      body = undefined
    }
    throw new Error(`Too many redirects at ${target}`)
  }

  const hidden = (html: string): Record<string, string> =>
    Object.fromEntries(
      [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/gu)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    )

  /** The boxes that the page has ticked: a browser sends them. */
  const ticked = (html: string): Record<string, string> =>
    Object.fromEntries(
      [...html.matchAll(/ name="([^"]*)" type="checkbox" value="([^"]*)" checked/gu)].map(
        ([, name = '', value = '']) => [name, value],
      ),
    )

  const actionOf = (html: string): string => /<form method="post" action="([^"]*)"/u.exec(html)?.[1] ?? ''

  return {
    jar,
    visit,
    /** Sends the form of a page with its hidden fields and ticked boxes. */
    submit: (html: string, fields: Readonly<Record<string, string>>, stopsAt: string) =>
      visit(actionOf(html), stopsAt, { ...hidden(html), ...ticked(html), ...fields }),
  }
}

/**
 * Signs a user in on the pages of a running server, and consents. A browser that is signed in, or whose user has
 * consented, meets fewer pages. Returns the URL of the response to the client.
 */
export async function signInOverHttp(
  issuer: string,
  request: Readonly<Record<string, string>> & { readonly redirect_uri: string },
  [username, password]: readonly [string, string],
  { visit, submit } = createHttpBrowser(),
): Promise<URL> {
  const { redirect_uri: end } = request
  const parameters = new URLSearchParams({ response_type: 'code', ...request })
  const answers = { 'name="password"': { username, password }, 'value="allow"': { decision: 'allow' } }
  let page = await visit(`${issuer}/connect/authorize?${parameters}`, end)
  for (const [control, answer] of Object.entries(answers)) {
    if (page.html.includes(control)) page = await submit(page.html, answer, end)
  }
  if (page.url.startsWith(end)) return new URL(page.url)
  throw new Error(`The sign-in ended at a page with status ${page.status}: ${page.html.slice(0, 2000)}`)
}
