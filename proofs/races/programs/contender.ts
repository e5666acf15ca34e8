// One of the processes of a race: a whole provider on the storage that all of them share, with latency on every
// operation.

import type { AtomicDriver, KeySource } from '@grantry/core'
import { basic, type Credentials } from '@grantry/core/testing'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { clients, type Fixture, fixture, redirectUri } from '../../../test/support/fixture.ts'
import { withLatency } from '../../../test/support/latency.ts'
import { takeOrders } from '../../../test/support/ordered-process.ts'
import { forgetfulDriver } from '../forgetful-driver.ts'
import { type Answers, api, type Order, retried, type StoragePlace, strict } from '../orders.ts'

function driverAt(place: StoragePlace): AtomicDriver {
  switch (place.kind) {
    case 'memory':
      return memoryDriver()
    case 'filesystem':
      return filesystemDriver({ directory: place.directory, fsync: false })
    case 'redis':
      return redisDriver({ url: place.url, operationTimeout: 20 })
    case 'cluster':
      return redisDriver({ cluster: place.urls, operationTimeout: 20 })
    case 'forgetful':
      return forgetfulDriver(memoryDriver())
  }
}

async function start(place: StoragePlace, keys: KeySource): Promise<Fixture> {
  const driver = driverAt(place)
  await driver.open?.()
  const [model] = clients
  const client = (credentials: Credentials, retryWindow: number) => ({
    ...model,
    clientId: credentials[0],
    refreshToken: { retryWindow },
  })
  return fixture({
    storage: withLatency(driver),
    storageTimeLimit: 30,
    keys,
    clients: [client(strict, 0), client(retried, 300)],
  })
}

async function prepare(f: Fixture, kind: 'code' | 'refresh', as: Credentials): Promise<string> {
  const code = await f.code({ clientId: as[0] })
  if (kind === 'code') return code
  const { status, body } = await f.post(
    'token',
    { grant_type: 'authorization_code', code, redirect_uri: redirectUri },
    as,
  )
  if (status !== 200) throw new Error(`no refresh token to race for: ${status} ${JSON.stringify(body)}`)
  return body.refresh_token
}

/** So many equal requests in one tick. */
async function race(
  f: Fixture,
  form: Readonly<Record<string, string>>,
  as: Credentials,
  racers: number,
): Promise<Answers> {
  const headers = { authorization: basic(as), 'content-type': 'application/x-www-form-urlencoded' }
  const body = new URLSearchParams(form).toString()
  const requests = Array.from(
    { length: racers },
    () => new Request(`${f.provider.issuer}/token`, { method: 'POST', headers, body }),
  )
  const responses = await Promise.all(
    requests.map(async (request) => {
      const response = await f.provider.handlers.token(request)
      return { status: response.status, text: await response.text() }
    }),
  )
  const refused: Record<string, number> = {}
  for (const { status, text } of responses) {
    if (status === 200) continue
    const refusal = `${status} ${JSON.parse(text).error}`
    refused[refusal] = (refused[refusal] ?? 0) + 1
  }
  return { granted: responses.flatMap(({ status, text }) => (status === 200 ? [text] : [])), refused }
}

async function carryOut(f: Fixture, order: Order): Promise<unknown> {
  switch (order.what) {
    case 'prepare':
      return prepare(f, order.kind, order.as)
    case 'race':
      return race(f, order.form, order.as, order.racers)
    case 'introspect':
      return (await f.post('introspection', { token: order.token }, api)).body.active
    case 'refresh':
      return (await f.post('token', { grant_type: 'refresh_token', refresh_token: order.token }, order.as)).status
  }
}

const [place, keys] = JSON.parse(process.argv[2] ?? '[]')
const f = await start(place, keys)
takeOrders<Order>((order) => carryOut(f, order))
