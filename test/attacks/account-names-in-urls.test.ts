/**
 * Attack: someone who reads logs of a proxy, or the history of a browser, finds the mail addresses of users, which are
 * their names, in URLs of the account page and of the sign-in that it leads to.
 */
import { expect, test } from 'vitest'
import { accountUri, setUpAccount } from '../account/parties.ts'

test('the sign-in before a change shows the name of the user, and no URL contains it', async () => {
  const { signedIn, clock, provider } = await setUpAccount()
  const { browser } = await signedIn()
  clock.advance(301)
  const url = `${accountUri}/sessions/end-others`
  const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const { status, headers } = await provider.fetch(new Request(url, { headers: { cookie } }))
  expect(status).toBe(303)
  expect(headers.get('location')).toContain('max_age=300')
  expect(headers.get('location')).not.toContain('alice')
  const page = await browser.open(url)
  expect(page.url).not.toContain('alice')
  expect(page.html).toMatch(/<input id="username"[^>]*value="alice"/u)
})
