import type { Provider } from '@grantry/core'

/** A response, as a browser without scripts sees it. */
export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** Where a redirect leads; the URL of the page otherwise. */
  readonly url: URL
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

export const unescapeHtml = (text: string): string =>
  text.replaceAll(/&(?:#(\d+)|(\w+));/gu, (_, code, name) => entities[name] ?? String.fromCharCode(Number(code)))

/** The hidden fields of the first form of a page. */
export const hiddenFields = ({ html }: Page): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/gu)].map(([, name = '', value = '']) => [
      name,
      unescapeHtml(value),
    ]),
  )

/** A browser with its own cookies. It follows redirects within the provider, and stops at any other site. */
export function createBrowser({ fetch, issuer }: Pick<Provider, 'fetch' | 'issuer'>, from = '192.0.2.1') {
  const jar = new Map<string, string>()
  /** The attributes of the cookies in the jar. */
  const attributes = new Map<string, string>()

  async function send(url: string, form?: Readonly<Record<string, string>>): Promise<Page> {
    const request = new Request(url, {
      headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const response = await fetch(request, { clientAddress: from })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = '', more = ''] = /^([^=]+)=([^;]*)(?:; )?(.*)/u.exec(cookie) ?? []
      attributes.set(name, more)
      if (/Max-Age=0/u.test(cookie)) jar.delete(name)
      else jar.set(name, value)
    }
    const location = response.headers.get('location')
    if (location?.startsWith(`${issuer}/`)) return send(location)
    const { status, headers } = response
    return { status, headers, html: await response.text(), url: new URL(location ?? url) }
  }

  /** Closes the browser, and opens it again: only cookies with a lifetime are left. */
  function close(): void {
    for (const name of jar.keys()) if (!/Max-Age/u.test(attributes.get(name) ?? '')) jar.delete(name)
  }

  return { jar, attributes, close, open: (url: string) => send(url), submit: send }
}

/** The link to the client on a page of a refusal. */
export const returnLink = ({ html }: Pick<Page, 'html'>): URL | undefined => {
  const [, link] = /<a id="return" href="([^"]+)"/u.exec(html) ?? []
  return link === undefined ? undefined : new URL(unescapeHtml(link))
}

/** The parameters of the response that a browser takes to the client, also if the user must follow a link to it. */
export const answer = ({ url, html }: Page): Record<string, string> =>
  Object.fromEntries((returnLink({ html }) ?? url).searchParams)
