// Attack: another site sends a form to the authorization endpoint while a user signs in. With SameSite=Lax, the browser
// withholds its cookies from that request, but obeys those that the response sets: the waiting sign-in would be lost.
import { expect, test } from 'vitest'
import { request } from '../authorization/parties.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'

test.each([
  ['a short form', {}],
  ['a long form', { extra: 'x'.repeat(5000) }],
  ['a form with a hint', { id_token_hint: 'x' }],
  ['a long form that claims to be sent again', { extra: 'x'.repeat(5000), resent: '1' }],
  ['a short form that claims to be sent again', { resent: '1' }],
])('the waiting sign-in of a user survives %s of another site', async (_name, more) => {
  const { start, provider } = await setUpSignIn()
  const { browser, enter } = await start()
  const body = new URLSearchParams({ ...request, ...more })
  const response = await provider.fetch(new Request(`${provider.issuer}/connect/authorize`, { method: 'POST', body }))
  const cookies = response.headers.getSetCookie()
  expect(cookies.filter((cookie) => [...browser.jar.keys()].some((name) => cookie.startsWith(`${name}=`)))).toEqual([])
  expect(nameOf(await enter('alice'))).toBe('consent')
})
