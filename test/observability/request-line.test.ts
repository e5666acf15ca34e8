// A request is one log line that contains its events. Warnings and errors do not wait for it.
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import { startServer } from '../support/patient-server.ts'
import { newDirectory } from '../support/server-program.ts'
import {
  authenticated,
  event,
  inRequest,
  issued,
  names,
  nested,
  output,
  parsed,
  refused,
  succeeded,
  trace,
} from './log-output.ts'

describe('a request', () => {
  test('is one line with its events, which do not repeat what they share', () => {
    const out = output()
    const log = createLog(out, { routeOf: () => '/connect/token' })
    for (const each of [authenticated('r'), issued('r'), succeeded('r')]) log.observe(each)
    log.flush()
    expect(parsed(out.lines)).toEqual([
      {
        time: expect.any(String),
        level: 'info',
        msg: 'POST /connect/token 200',
        'event.name': 'endpoint_succeeded',
        'event.id': 'r.1',
        'grantry.request_id': 'r',
        'grantry.endpoint': 'token',
        'grantry.client_id': 'web',
        trace_id: trace.traceId,
        span_id: trace.spanId,
        'client.address': '198.51.100.7',
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'http.route': '/connect/token',
        duration_ms: 1.5,
        'grantry.events': [
          { 'event.name': 'client_authentication_succeeded', 'grantry.method': 'client_secret_basic' },
          {
            'event.name': 'token_issued',
            'grantry.token_type': 'access_token',
            'grantry.grant_type': 'client_credentials',
            'grantry.scopes': ['api1'],
            'grantry.fingerprint': '373cb08e',
          },
        ],
      },
    ])
  })

  test('without events has no list', () => {
    const out = output()
    const log = createLog(out)
    log.observe(succeeded('r'))
    log.flush()
    expect(out.lines).toHaveLength(1)
    expect(parsed(out.lines)[0]).not.toHaveProperty(['grantry.events'])
  })

  test('keeps the client and user of an event that differ from those of the request', () => {
    const out = output()
    const log = createLog(out)
    log.observe(inRequest('r', { type: 'introspection_active', scope: 'api1', clientId: 'other', sub: 'alice' }))
    log.observe(succeeded('r', { sub: 'alice' }))
    log.flush()
    expect(parsed(out.lines)[0]['grantry.events']).toEqual([
      { 'event.name': 'introspection_active', 'grantry.scope': 'api1', 'grantry.client_id': 'other' },
    ])
  })

  test('has only its own events when requests overlap', () => {
    const out = output()
    const log = createLog(out)
    for (const each of [authenticated('r'), authenticated('s'), issued('s'), succeeded('r'), succeeded('s')])
      log.observe(each)
    log.flush()
    expect(parsed(out.lines).map((line) => [line['grantry.request_id'], nested(line)])).toEqual([
      ['r', ['client_authentication_succeeded']],
      ['s', ['client_authentication_succeeded', 'token_issued']],
    ])
  })

  test('is one line in text, too', () => {
    const out = output()
    const log = createLog(out, { format: 'text', routeOf: () => '/connect/token' })
    for (const each of [
      authenticated('r'),
      inRequest('r', { type: 'introspection_inactive', scope: 'a | token issued', reason: 'token_unknown' }),
      succeeded('r'),
    ])
      log.observe(each)
    log.flush()
    expect(out.lines.map((line) => line.replace(/^\S+ /u, ''))).toEqual([
      'info  POST /connect/token 200 client.address=198.51.100.7 duration_ms=1.5 client_id=web' +
        ' | client authentication succeeded method=client_secret_basic' +
        ' | introspection inactive: token_unknown scope="a | token issued"',
    ])
  })

  test.each(['json', 'text'] as const)('as %s has no control characters from the values of its events', (format) => {
    const out = output()
    const log = createLog(out, { format })
    const hostile = 'a\u0000\u001B[31m\u009Bm\u2028\u202E\uD800"\\\n{"level":"error"}'
    log.observe(inRequest('r', { type: 'token_issued', grantType: hostile, scopes: [hostile] }))
    log.observe(succeeded('r'))
    log.flush()
    expect(out.lines).toHaveLength(1)
    expect(out.lines[0]).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
    if (format === 'json')
      expect(parsed(out.lines)[0]['grantry.events'][0]).toMatchObject({
        'grantry.grant_type': hostile,
        'grantry.scopes': [hostile],
      })
  })

  test('that is not logged at the chosen level keeps no events', () => {
    const out = output()
    const log = createLog(out, { level: 'error' })
    log.observe(authenticated('r'))
    log.observe(succeeded('r', { type: 'endpoint_failed', status: 503, reason: 'storage_failed' }))
    log.flush()
    expect(parsed(out.lines)).toMatchObject([{ level: 'error', 'event.name': 'endpoint_failed' }])
    expect(nested(parsed(out.lines)[0])).toEqual([])
  })
})

describe('an event with a line of its own', () => {
  test('is a warning or an error in a request, which is written immediately and after earlier lines', () => {
    const out = output()
    const log = createLog(out)
    log.observe(succeeded('earlier'))
    log.observe(authenticated('r'))
    expect(out.lines).toEqual([])
    log.observe(refused('r'))
    expect(names(out.lines)).toEqual(['endpoint_succeeded', 'client_authentication_failed'])
    log.observe(inRequest('r', { type: 'unhandled_failure', cause: new Error('x') }))
    expect(names(out.lines)).toEqual(['endpoint_succeeded', 'client_authentication_failed', 'unhandled_failure'])
    log.observe(succeeded('r'))
    log.flush()
    // Not a second time.
    expect(nested(parsed(out.lines)[3])).toEqual(['client_authentication_succeeded'])
  })

  test.each([
    ['the rotation of a key', { type: 'keys_rotated' }],
    ['a revocation by the host', { type: 'subject_revoked', sub: 'alice', endpoint: 'revoke' }],
    [
      'a login outside of an endpoint',
      { type: 'user_authentication_succeeded', ...trace, endpoint: 'authenticateUser' },
    ],
  ])('is %s', async (_, more) => {
    const out = output()
    const log = createLog(out)
    log.observe(event({ reason: undefined, ...more }))
    await new Promise(setImmediate)
    expect(out.lines).toHaveLength(1)
  })
})

test('a request whose client has gone has its line', async () => {
  const out = output()
  const log = createLog(out, { level: 'info' })
  let finish: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    finish = resolve
  })
  const directory = newDirectory()
  const server = await startServer({
    directory,
    port: 0,
    observe(each) {
      log.observe(each)
      if (each.endpoint === 'token' && 'httpMethod' in each) finish()
    },
  })
  try {
    const socket = connect(server.running.port, '127.0.0.1')
    const head = 'POST /connect/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n'
    socket.write(`${head}Content-Length: 100\r\n\r\ngrant_type=`, () => socket.destroy())
    await ended
    log.flush()
    expect(parsed(out.lines).filter((line) => line['grantry.endpoint'] === 'token')).toMatchObject([
      { 'event.name': 'endpoint_failed', 'http.request.method': 'POST', 'grantry.endpoint': 'token' },
    ])
  } finally {
    await server.close(0)
    rmSync(directory, { recursive: true, force: true })
  }
})
