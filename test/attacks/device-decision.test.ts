/**
 * Attack: a device polls exactly while its user decides. If the approval has stored the tokens' grant, but not yet the
 * decision, and the user denies at the same moment, the device must not get tokens.
 *
 * The failure of one write stands for the moment between the two: it holds the approval there.
 */

import { deviceAuthorization, deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { createTestClock, createTestProvider, mapDriver, sha256Of } from '@grantry/testing'
import { expect, test } from 'vitest'

const address = '192.0.2.1'
const alice = { subject: { sub: 'alice', amr: ['pwd'] } }
const mallory = { subject: { sub: 'mallory', amr: ['pwd'] } }

/** A device whose approval by alice has failed after the grant was stored, before the decision. */
async function halfApproved() {
  const clock = createTestClock()
  const memory = mapDriver(new Map(), clock.now)
  let isGrantStored = false
  let hasFailed = false
  const storage = {
    ...memory,
    async insertItem(key: string, value: string, options: { ttl: number }) {
      if (isGrantStored && !hasFailed) {
        hasFailed = true
        throw new Error('The storage is away')
      }
      isGrantStored ||= key.startsWith('grant:device:')
      return memory.insertItem(key, value, options)
    },
  }
  const f = await createTestProvider({
    plugins: deviceAuthorization({ verificationUri: 'https://example.com/device' }),
    storage,
    runtime: { now: clock.now },
    clients: [
      { clientId: 'tv', secrets: [{ sha256: sha256Of('s') }], grantTypes: [deviceGrantType], scopes: ['api1'] },
    ],
  })
  const { body } = await f.post('deviceAuthorization', { scope: 'api1' }, ['tv', 's'])
  const page = f.provider.use(deviceVerification)
  const userCode: string = body.user_code
  await expect(page.approve(userCode, address, alice)).rejects.toMatchObject({ code: 'temporarily_unavailable' })
  expect([isGrantStored, hasFailed]).toEqual([true, true])
  return {
    page,
    userCode,
    async poll() {
      clock.advance(5)
      const form = { grant_type: deviceGrantType, device_code: body.device_code }
      const response = await f.post('token', form, ['tv', 's'])
      return response.body.error ?? response.status
    },
  }
}

test('a poll between the grant and the decision gets nothing, and a denial stands', async () => {
  const { page, userCode, poll } = await halfApproved()
  expect(await poll()).toBe('authorization_pending')
  expect(await page.deny(userCode, address)).toBe(true)
  expect(await poll()).toBe('access_denied')
  expect(await page.approve(userCode, address, alice)).toBe(false)
})

test('the same user can approve again', async () => {
  const { page, userCode, poll } = await halfApproved()
  expect(await page.approve(userCode, address, alice)).toBe(true)
  expect(await poll()).toBe(200)
})

test('another user cannot release the grant of the first one', async () => {
  const { page, userCode, poll } = await halfApproved()
  expect(await page.approve(userCode, address, mallory)).toBe(false)
  expect(await poll()).toBe('authorization_pending')
})
