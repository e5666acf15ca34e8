import { createPages } from '@grantry/pages'
import { backChannelLogout } from '@grantry/plugins/back-channel-logout'
import { endSession } from '@grantry/plugins/end-session'
import { createTestClock } from '@grantry/testing'
import { expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { setUpSignIn } from '../sign-in/parties.ts'
import { clients, createReceivers } from './parties.ts'

const hour = 3600

async function setUpRenewed() {
  const clock = createTestClock()
  const receivers = createReceivers()
  const pages = createPages()
  const features = [endSession({ pages }), backChannelLogout({ fetch: receivers.fetch, maxWait: 10 })]
  const sessions = { idleLifetime: 10 * hour, absoluteLifetime: 10 * hour }
  const f = await setUpSignIn({ pages }, { clients, runtime: { now: clock.now } }, { pages, features, sessions })
  /** Signs alice in, and answers the question of the client. */
  const visit = async (browser: ReturnType<typeof f.browser>, decision: 'allow' | 'deny') => {
    const { enter, submit } = await f.start({ prompt: 'login consent' }, browser)
    return answer(await submit('consent', { decision }, await enter('alice')))
  }
  return { ...f, ...receivers, clock, visit }
}

test('14.4 a session that was renewed by a sign-in without a code ends at its earlier clients too', async () => {
  const { clock, visit, browser, provider, claims } = await setUpRenewed()
  const visitor = browser()
  expect(await visit(visitor, 'allow')).toHaveProperty('code')
  clock.advance(9 * hour)
  expect(await visit(visitor, 'deny')).toMatchObject({ error: 'access_denied' })
  clock.advance(9 * hour)
  const page = await visitor.open(`${provider.issuer}/connect/endsession`)
  expect(page.html).toContain('alice')
  const token = /name="form_token" value="([^"]+)"/u.exec(page.html)?.[1] ?? ''
  await visitor.submit(`${provider.issuer}/connect/endsession/confirm`, { form_token: token, decision: 'logout' })
  expect(claims()).toMatchObject([{ sub: 'alice', aud: 'web' }])
})
