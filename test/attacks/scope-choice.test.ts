/**
 * Attack: a client gets more than the user has ticked, by fields that the form did not have, by the form of another
 * page, by a form that is sent again, or because the configuration changes while the user decides.
 *
 * RFC 6749 sections 3.3 and 10.2.
 */
import { expect, test } from 'vitest'
import { answer, hiddenFields } from '../authorization/browser.ts'
import { boxesOf, setUpChoice, yes } from '../sign-in/choosing.ts'

test.each([
  ['that the request has not asked for', yes('api1', 'files:write', 'mail:send', '__proto__', 'constructor')],
  ['in a field of another name', { ...yes('api1'), scope: 'openid api1 profile', scopes: 'profile', profile: 'yes' }],
  ['by another value', { ...yes('api1'), 'scope:profile': 'on', 'scope:offline_access': 'true' }],
  ['by another spelling', { ...yes('api1'), 'scope:Profile': 'yes', 'SCOPE:profile': 'yes', 'scope: profile': 'yes' }],
])('the form adds no scope %s', async (_name, form) => {
  const { allow, redeem } = await setUpChoice('openid profile api1 offline_access')
  const { body } = await redeem(answer(await allow(form)).code)
  expect(body.scope).toBe('openid api1')
})

test('a repeated field is refused', async () => {
  const { page, browser, provider } = await setUpChoice('openid profile api1')
  const fields = new URLSearchParams({ ...hiddenFields(page), decision: 'allow', 'scope:api1': 'no' })
  fields.append('scope:api1', 'yes')
  const cookie = [...browser.jar].map((pair) => pair.join('=')).join('; ')
  const url = `${provider.issuer}/connect/consent`
  const end = await provider.fetch(new Request(url, { method: 'POST', body: fields, headers: { cookie } }))
  expect([end.status, end.headers.get('location')]).toEqual([400, null])
})

test('the form of a page with fewer scopes does not permit more', async () => {
  const { page: small, start, browser, redeem, submit } = await setUpChoice('openid api1')
  const { page: large } = await start({ scope: 'openid profile api1' }, browser)
  const { form_token = '' } = hiddenFields(small)
  const crossed = await submit('consent', { decision: 'allow', form_token, ...yes('profile', 'api1') }, large)
  expect(boxesOf(crossed)).toEqual({ profile: true, api1: true })
  const end = await submit('consent', { decision: 'allow', ...yes('profile', 'api1') }, small)
  expect((await redeem(answer(end).code)).body.scope).toBe('openid api1')
})

test('a form is answered once', async () => {
  const { allow } = await setUpChoice('openid profile api1')
  expect(answer(await allow(yes('api1')))).toHaveProperty('code')
  const again = await allow(yes('api1', 'profile'))
  expect([again.status, again.headers.get('location')]).toEqual([400, null])
})

test('a scope that the page did not show is not granted, nor is the choice circumvented by turning it off', async () => {
  const { allow, page, redeem, change } = await setUpChoice(
    'openid profile api1',
    {},
    { scopes: ['openid', 'api1', 'read'] },
  )
  expect(boxesOf(page)).toEqual({ api1: true })
  change({ scopes: ['openid', 'profile', 'api1'] })
  expect((await redeem(answer(await allow(yes('api1', 'profile'))).code)).body.scope).toBe('openid api1')
})
