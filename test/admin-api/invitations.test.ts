// Invitations over the admin API.
import { describe, expect, test } from 'vitest'
import { setting } from './setting.ts'

const id = 'a'.repeat(43)
const carol = { id, email: 'carol@example.com', claims: { name: 'Carol' }, invitedAt: 1, expiresAt: 2 }

async function open(outcome: typeof carol | string = carol) {
  const calls: unknown[] = []
  const invitations = {
    newId: () => id,
    async invite(invitation: object) {
      calls.push(invitation)
      return outcome
    },
    list: async () => [carol],
    withdraw: async (withdrawnId: string) => withdrawnId === id,
  }
  return { ...(await setting({ host: { invitations } })), calls }
}

describe('an invitation', () => {
  test('is sent, listed, withdrawn, and in the trail without the address', async () => {
    const { send, trail, calls } = await open()
    const body = { email: carol.email, name: 'Carol', claims: { department: 'sales' }, locale: 'de' }
    expect(await send('POST', '/invitations', { body })).toMatchObject({ status: 201, body: carol })
    expect(calls).toEqual([{ id, email: carol.email, claims: { department: 'sales', name: 'Carol' }, locale: 'de' }])
    expect(await send('GET', '/invitations')).toMatchObject({ status: 200, body: { items: [carol] } })
    expect((await send('DELETE', `/invitations/${id}`)).status).toBe(204)
    expect((await send('DELETE', `/invitations/${'b'.repeat(43)}`)).status).toBe(404)
    expect((await send('DELETE', '/invitations/b')).status).toBe(404)
    const records = await trail()
    expect(records.map(({ action }) => action)).toEqual(['user_invitation_withdrawn', 'user_invited'])
    expect(records.map((record) => record.id)).toEqual([id, id])
    expect(JSON.stringify(records)).not.toContain('carol@example.com')
  })

  test.each([
    ['account_exists', 409],
    ['address_malformed', 400],
    ['claims_malformed', 400],
    ['too_many_invitations', 409],
    ['mail_failed', 409],
  ])('that is refused by %s is a problem, and not in the trail', async (problem, status) => {
    const { send, trail } = await open(problem)
    expect((await send('POST', '/invitations', { body: { email: carol.email } })).status).toBe(status)
    expect(await trail()).toEqual([])
  })

  test('needs a token of an administrator, and has no other members', async () => {
    const { send } = await open()
    expect((await send('POST', '/invitations', { body: { email: carol.email }, token: 'none' })).status).toBe(401)
    expect((await send('POST', '/invitations', { body: { email: carol.email, password: 'x' } })).status).toBe(400)
  })

  test('of a server without them is a problem', async () => {
    const { send } = await setting()
    expect(await send('GET', '/invitations')).toMatchObject({ status: 404 })
    expect(await send('POST', '/invitations', { body: { email: carol.email } })).toMatchObject({ status: 404 })
  })
})
