/**
 * `close()` while requests are open, as in every deployment. Open requests complete, new ones are refused, idle
 * connections do not delay it, and a request that never ends delays it only for the given seconds.
 */

import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { type RunningServer, serve } from '@grantry/adapters/node'
import { basic } from '@grantry/testing'
import { afterEach, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const agents: Agent[] = []
let server: RunningServer
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy()
  await server.close(0)
})

const form = 'grant_type=client_credentials&scope=api1'
/** Starts a server whose responses wait while the gate is shut. */
async function start() {
  const f = await fixture()
  let open: () => void = () => undefined
  let gate: Promise<void> | undefined
  const provider = {
    issuer: f.provider.issuer,
    fetch: async (...args: Parameters<typeof f.provider.fetch>) => {
      const response = await f.provider.fetch(...args)
      await gate
      return response
    },
  }
  server = await serve(provider)
  return {
    shut: () => {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    open: () => open(),
  }
}

function post(agent?: Agent): ClientRequest {
  return request({
    // `false`: the connection serves only this request.
    agent: agent ?? false,
    host: server.host,
    port: server.port,
    path: '/connect/token',
    method: 'POST',
    headers: {
      authorization: basic(web),
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': form.length,
    },
  })
}
async function responseOf(req: ClientRequest): Promise<{ status: number | undefined; text: string }> {
  const [res] = (await once(req, 'response')) as [IncomingMessage]
  let text = ''
  for await (const part of res) text += part
  return { status: res.statusCode, text }
}
const keepAlive = (): Agent => {
  const agent = new Agent({ keepAlive: true })
  agents.push(agent)
  return agent
}
/** Seconds after which `close()` would cut connections: more than a test lasts. */
const muchLater = 600
const isRefused = async (): Promise<boolean> => {
  const socket = connect(server.port, server.host)
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}

test('completes a request whose body is still arriving', async () => {
  await start()
  const req = post()
  const response = responseOf(req)
  req.write(form.slice(0, 10))
  await once(server.server, 'request')

  const closed = server.close(muchLater)
  expect(await isRefused()).toBe(true)
  req.end(form.slice(10))

  expect(await response).toMatchObject({ status: 200, text: expect.stringContaining('"access_token"') })
  expect(await closed).toBeUndefined()
})

test('completes a request in progress, also on a keep-alive connection', async () => {
  const { shut, open } = await start()
  shut()
  const req = post(keepAlive())
  const response = responseOf(req)
  req.end(form)
  await once(server.server, 'request')

  const closed = server.close(muchLater)
  open()

  expect(await response).toMatchObject({ status: 200 })
  expect(await closed).toBeUndefined()
})

test('does not cut off a response on a connection that stays in use', async () => {
  await start()
  const agent = keepAlive()
  const send = async () => {
    const req = post(agent)
    const response = responseOf(req)
    req.end(form)
    return response
  }
  await send()
  const first = send()
  await once(server.server, 'request')
  const closed = server.close(1)
  expect(await first).toMatchObject({ status: 200 })
  // Now the connection is closed or about to close: a new request is completed or refused immediately.
  const after = await Promise.all([send().catch(() => 'refused'), send().catch(() => 'refused')])
  for (const response of after)
    expect(['refused', 200]).toContain(typeof response === 'string' ? response : response.status)
  expect(await closed).toBeUndefined()
})

test('idle connections do not delay close()', async () => {
  await start()
  const agent = keepAlive()
  for (let time = 0; time < 3; time += 1) {
    const req = post(agent)
    req.end(form)
    expect(await responseOf(req)).toMatchObject({ status: 200 })
  }
  expect(await server.close(muchLater)).toBeUndefined()
})

test('a connection without any request delays close() for at most the given seconds', async () => {
  await start()
  const socket = connect(server.port, server.host)
  await once(socket, 'connect')
  const ended = once(socket, 'close')
  expect(await server.close(1)).toBeUndefined()
  await ended
})

test('cuts off a request that never ends after the given seconds', async () => {
  await start()
  const req = post()
  const failure = once(req, 'error').then(() => 'cut')
  req.write(form.slice(0, 10))
  await once(server.server, 'request')
  expect(await server.close(1)).toBeUndefined()
  expect(await failure).toBe('cut')
})

test('close() can be called twice', async () => {
  await start()
  expect(await Promise.all([server.close(muchLater), server.close(muchLater)])).toEqual([undefined, undefined])
})

test('serve() rejects when the port is in use', async () => {
  await start()
  const { provider } = await fixture()
  await expect(serve(provider, { port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
