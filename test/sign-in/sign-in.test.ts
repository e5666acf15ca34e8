import { decodeJwt } from '@grantry/core'
import { expect, test } from 'vitest'
import { answer, hiddenFields } from '../authorization/browser.ts'
import { nameOf, setUpSignIn } from './parties.ts'

test('asks for a password and for consent, then sends a code', async () => {
  const { start, redeem } = await setUpSignIn()
  const { page, enter, submit } = await start()
  expect(nameOf(page)).toBe('signIn')
  const consent = await enter('alice')
  expect(nameOf(consent)).toBe('consent')
  const { body } = await redeem(answer(await submit('consent', { decision: 'allow' }, consent)).code)
  expect(decodeJwt(body.id_token)?.claims).toMatchObject({ sub: 'alice', amr: ['pwd'] })
})

test('asks neither again in the same session', async () => {
  const { start } = await setUpSignIn()
  const { browser, enter, submit } = await start()
  await submit('consent', { decision: 'allow' }, await enter('alice'))
  expect(answer((await start({}, browser)).page)).toHaveProperty('code')
  expect(answer((await start({ prompt: 'none' }, browser)).page)).toHaveProperty('code')
})

test('prompt=none shows no page', async () => {
  const { start } = await setUpSignIn()
  const { browser, page } = await start({ prompt: 'none' })
  expect(answer(page)).toMatchObject({ error: 'login_required' })
  const { enter } = await start({}, browser)
  await enter('alice')
  expect(answer((await start({ prompt: 'none' }, browser)).page)).toMatchObject({ error: 'consent_required' })
})

test('prompt=login asks for the password again, although there is a session', async () => {
  const { start } = await setUpSignIn()
  const { browser, enter, submit } = await start()
  await submit('consent', { decision: 'allow' }, await enter('alice'))
  const again = await start({ prompt: 'login' }, browser)
  expect(nameOf(again.page)).toBe('signIn')
  expect(answer(await again.enter('alice'))).toHaveProperty('code')
})

test('prompt=select_account lets the user choose', async () => {
  const { start } = await setUpSignIn()
  const { browser, enter, submit } = await start()
  await submit('consent', { decision: 'allow' }, await enter('alice'))
  const choice = await start({ prompt: 'select_account' }, browser)
  expect(nameOf(choice.page)).toBe('chooseAccount')
  const sid = /"id":"([\w-]+)"/u.exec(choice.page.html)?.[1] ?? ''
  expect(nameOf(await choice.submit('accounts', { account: 'other' }))).toBe('signIn')
  expect(answer(await choice.submit('accounts', { account: sid }))).toHaveProperty('code')
})

test('a user who is signed in with the wrong account can change it on the page of the consent', async () => {
  const { start, redeem } = await setUpSignIn()
  const { browser, enter, submit } = await start()
  await submit('consent', { decision: 'allow' }, await enter('alice'))
  const again = await start({ prompt: 'consent' }, browser)
  expect(nameOf(again.page)).toBe('consent')
  const signIn = await again.submit('consent', { decision: 'switch' })
  expect(nameOf(signIn)).toBe('signIn')
  const consent = await again.enter('bob', 'bob-password', signIn)
  expect(consent.html).toContain('"subjectName":"bob"')
  const { body } = await redeem(answer(await again.submit('consent', { decision: 'allow' }, consent)).code)
  expect(decodeJwt(body.id_token)?.claims).toMatchObject({ sub: 'bob' })
})

test('the button for another account decides nothing, and needs the token of the page', async () => {
  const { start } = await setUpSignIn()
  const { browser, enter, submit } = await start()
  await enter('alice')
  const consent = await start({}, browser)
  expect(nameOf(await consent.submit('consent', { decision: 'switch', form_token: 'forged' }))).toBe('consent')
  expect(nameOf(await consent.submit('consent', { decision: 'switch' }))).toBe('signIn')
  for (const decision of ['', 'Allow', 'other']) {
    expect(nameOf(await submit('consent', { decision }, consent.page))).toBe('consent')
  }
})

test.each(['cancel', 'deny'])('the button %s sends access_denied', async (decision) => {
  const { start } = await setUpSignIn()
  const { submit } = await start()
  expect(answer(await submit('signin', { decision }))).toMatchObject({ error: 'access_denied' })
})

test('shows a wrong password, with the same page for an unknown user', async () => {
  const { start } = await setUpSignIn()
  const { enter } = await start()
  const wrong = await enter('alice', 'wrong')
  expect(wrong.html).toContain('wrong_credentials')
  const normal = (html: string) =>
    html.replaceAll(/"form_token":"[^"]+"|value="[^"]+"/gu, '').replaceAll('mallory', 'alice')
  expect(normal((await enter('mallory', 'wrong')).html)).toBe(normal(wrong.html))
})

test('refuses a form of another browser, and a used one', async () => {
  const { start, browser } = await setUpSignIn()
  const { page, enter, submit } = await start({})
  const victim = browser()
  const fields = { username: 'alice', password: 'alice-password' }
  const stolen = await victim.submit('https://id.example.com/connect/signin', { ...hiddenFields(page), ...fields })
  expect(nameOf(stolen)).toBe('error')
  expect(stolen.status).toBe(400)
  expect(victim.jar.size).toBe(0)
  const consent = await enter('alice')
  await submit('consent', { decision: 'allow' }, consent)
  expect(nameOf(await submit('consent', { decision: 'allow' }, consent))).toBe('error')
})
