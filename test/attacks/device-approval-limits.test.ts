/**
 * Attack: who approves a device gives it more than was asked, such as with a page of the host that passes on what the browser
 * sent; or a user who was deactivated keeps the one who may approve from it.
 *
 * RFC 8628 sections 3.3 and 5.4.
 */
import { expect, test } from 'vitest'
import { address, alice, setUp } from '../device-authorization/parties.ts'

test('a scope that the device has not requested is not approved', async () => {
  const { start, poll, page } = await setUp()
  const { body } = await start({ scope: 'api1' })
  const more = { subject: alice, scopes: ['api1', 'offline_access'] }
  await expect(page.approve(body.user_code, address, more)).rejects.toMatchObject({ code: 'invalid_scope' })
  expect((await poll(body.device_code)).body.error).toBe('authorization_pending')
})

test('a user who was deactivated approves nothing, and keeps no other user from it', async () => {
  const isActive = (sub: string) => sub !== 'mallory'
  const { start, poll, page } = await setUp({ users: { isActive } })
  const { body } = await start()
  const mallory = { subject: { ...alice, sub: 'mallory' } }
  await expect(page.approve(body.user_code, address, mallory)).rejects.toMatchObject({ code: 'login_required' })
  expect(await page.approve(body.user_code, address, { subject: alice })).toBe(true)
  expect((await poll(body.device_code)).status).toBe(200)
})

test('a code of a client that was revoked since is unknown', async () => {
  const { start, page, provider } = await setUp()
  const { body } = await start()
  await provider.revoke({ clientId: 'tv' })
  expect(await page.find(body.user_code, address)).toBeUndefined()
  expect(await page.approve(body.user_code, address, { subject: alice })).toBe(false)
})
