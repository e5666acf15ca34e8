// Clients that register themselves at four processes, and the commands of an administrator.
import type { JsonObject } from '@grantry/core'
import { expect } from 'vitest'
import { post, type Service } from './service.ts'

interface Answer {
  readonly status: number
  readonly body: JsonObject
}

const metadata = {
  grant_types: ['client_credentials'],
  token_endpoint_auth_method: 'client_secret_post',
  scope: 'api1',
}
export const registration = { name: 'registration', scopes: ['api1'], grantTypes: ['client_credentials'] }

async function send(url: string, method: string, token: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}

/** Sends a request `times` times to each process, together. */
const race = async (service: Service, times: number, act: (origin: string) => Promise<Answer>) =>
  (await service.everywhere((origin) => Promise.all(Array.from({ length: times }, () => act(origin))))).flat()

const statuses = (answers: readonly Answer[], status: number) => answers.filter((answer) => answer.status === status)

export async function clientsRegister(service: Service): Promise<void> {
  const issue = async (budget: number) =>
    JSON.parse(
      await service.command('registrations', 'issue-token', '--budget', String(budget), '--expires-in', '1h', '--json'),
    )

  // 200 racers with one token that has five registrations.
  const { token, id } = await issue(5)
  const register = (origin: string) => send(`${origin}/connect/register`, 'POST', token, metadata)
  const racers = await race(service, 50, register)
  expect(statuses(racers, 201)).toHaveLength(5)
  expect(statuses(racers, 400)).toHaveLength(195)
  expect(new Set(statuses(racers, 201).map(({ body }) => body.client_id)).size).toBe(5)

  // The client is known to each process, and its first tokens make it live on.
  const client = (statuses(racers, 201)[0]?.body ?? {}) as Record<string, string>
  const clientId = client.client_id ?? ''
  const credentials = [clientId, client.client_secret ?? ''] as const
  const request = { grant_type: 'client_credentials', scope: 'api1' }
  const obtain = (origin: string) => post(`${origin}/connect/token`, credentials, request) as Promise<Answer>
  expect(statuses(await race(service, 5, obtain), 200)).toHaveLength(20)
  expect(JSON.parse(await service.command('registrations', 'show', clientId))).toMatchObject({
    used: true,
    scope: 'api1',
  })

  // Of changes at the same time, each that was confirmed has taken place.
  const { registration_access_token: manage = '', registration_client_uri: uri = '' } = client
  const change = (origin: string) =>
    send(origin + new URL(uri).pathname, 'PUT', manage, { ...metadata, client_id: clientId, client_name: origin })
  const changes = await race(service, 5, change)
  const changed = statuses(changes, 200)
  expect(changed.length).toBeGreaterThan(0)
  expect(changed.length + statuses(changes, 503).length).toBe(20)
  expect(new Set(changed.map(({ body }) => body.registration_access_token)).size).toBe(1)
  const shown = JSON.parse(await service.command('registrations', 'show', clientId))
  expect(changed.map(({ body }) => body.client_name)).toContain(shown.client_name)

  // What an administrator ends has ended everywhere.
  expect(await service.command('registrations', 'remove', clientId)).toBe(`Removed the client ${clientId}.\n`)
  expect(statuses(await race(service, 1, obtain), 401)).toHaveLength(4)
  expect(await service.inProcess('registrations', 'remove', clientId)).toBe(1)
  expect(await service.command('registrations', 'revoke-token', id)).toBe('Ended the token.\n')
  const second = await issue(1)
  await service.command('registrations', 'revoke-token', second.id)
  const late = (origin: string) => send(`${origin}/connect/register`, 'POST', second.token, metadata)
  expect(statuses(await race(service, 1, late), 401)).toHaveLength(4)
}
