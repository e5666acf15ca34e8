/**
 * Attack: text that a stranger chooses becomes markup on the page of the account of another user: the `User-Agent` or the
 * address of a sign-in with a stolen password, the name of a client that has registered itself, or of a user.
 */

import { expect, test } from 'vitest'
import { accountUri, linksTo, setUpAccount } from '../account/parties.ts'
import { createBrowser } from '../authorization/browser.ts'
import { clients } from '../authorization/parties.ts'

const evil = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`
const markup = /<(?:script>alert|img src=x)/u

test('the browser and the address of a sign-in, and the names of applications and users, are text', async () => {
  const { provider, enter, authorize } = await setUpAccount({
    provider: {
      clients: clients.map((client) => ({ ...client, clientName: evil })),
      users: { authenticate: () => ({ sub: evil }), claims: () => ({}) },
    },
  })
  const hostile = {
    issuer: provider.issuer,
    fetch: (request: Request, facts?: Parameters<typeof provider.fetch>[1]) => {
      const headers = new Headers(request.headers)
      headers.set('user-agent', `Firefox/ Windows ${evil}`)
      return provider.fetch(new Request(request, { headers }), facts)
    },
  }
  const user = createBrowser(hostile, '192.0.2.1')
  const thief = createBrowser(hostile, '198.51.100.7')
  for (const browser of [user, thief]) await enter(browser, await browser.open(accountUri), evil, 'x')
  await authorize(user)
  const page = await user.open(accountUri)
  const pages = [page]
  for (const url of [...linksTo(page, 'sessions/'), ...linksTo(page, 'applications/')]) pages.push(await user.open(url))
  expect(pages).toHaveLength(4)
  for (const { html } of pages) expect(html).not.toMatch(markup)
  expect(page.html).toContain('Firefox on Windows')
  expect(page.html).toContain('198.51.100.7')
  expect(page.html).toContain('&lt;script&gt;alert(1)')
})
