/**
 * Attack: the page for a second factor of one request is used in another request of the same browser, such as one of another
 * client, or with the form of another page.
 */
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { passwordAt, setUpFactors } from '../sign-in/one-time-password-parties.ts'
import { nameOf } from '../sign-in/parties.ts'

async function twoRequests() {
  const f = await setUpFactors()
  const firstVisit = await f.start()
  const secondVisit = await f.start({}, firstVisit.browser)
  const [first, second] = [await firstVisit.enter('alice'), await secondVisit.enter('alice')]
  const enter = (fields: Readonly<Record<string, string>>) =>
    firstVisit.browser.submit(`${f.provider.issuer}/connect/secondfactor`, {
      ...fields,
      code: passwordAt(f.clock.now()),
    })
  return { firstVisit, enter, first: hiddenFields(first), second: hiddenFields(second) }
}

describe('the page for a second factor', () => {
  test('counts in its own request only', async () => {
    const { enter, first, second } = await twoRequests()
    expect(first.interaction).not.toBe(second.interaction)
    const page = await enter({ ...second, passed: first.passed ?? '' })
    expect([nameOf(page), page.html.includes('"problem":"form_expired"')]).toEqual(['signIn', true])
    expect(nameOf(await enter(second))).toBe('consent')
  })

  test('needs its own form: not that of the page before', async () => {
    const { firstVisit, enter, first } = await twoRequests()
    const { form_token: ofSignIn = '' } = hiddenFields(firstVisit.page)
    const page = await enter({ ...first, form_token: ofSignIn })
    expect([nameOf(page), page.html.includes('"problem":"form_expired"')]).toEqual(['signIn', true])
  })
})
