/** A page, as a browser without scripts sees it. */
export interface Page {
  readonly status: number
  readonly url: URL
  readonly html: string
}

/** A browser without scripts: it has cookies, follows redirects, and sends the form of a page. */
export function createBrowser(issuer: string, fetch: (request: Request) => Promise<Response>) {
  const cookies = new Map<string, string>()

  async function open(url: URL, form?: Record<string, string>): Promise<Page> {
    const request = new Request(url, {
      headers: { cookie: [...cookies].map((cookie) => cookie.join('=')).join('; ') },
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const response = await fetch(request)
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(cookie) ?? []
      if (/Max-Age=0/iu.test(cookie)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location !== null) return open(new URL(location, url))
    return { status: response.status, url, html: await response.text() }
  }

  function submit({ html, url }: Page, fields: Record<string, string>): Promise<Page> {
    const [, action = ''] = /<form[^>]* action="([^"]*)"/u.exec(html) ?? []
    const hidden = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/gu)]
    const form = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, plain(value)]))
    return open(new URL(plain(action), url), { ...form, ...fields })
  }

  const plain = (text: string) =>
    text
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll(/&(?:quot|#34);/gu, '"')
      .replaceAll('&amp;', '&')

  return { open: (path: string) => open(new URL(path, issuer)), submit }
}
