// A real process: a log without a reader, and a tracer that the operator registers.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parsePrometheusText } from './prometheus-text.ts'
import { type ServerProcess, serverProcesses } from './server-process.ts'

const { newHome, start } = serverProcesses()

/** Pipelines this many requests for missing pages on one connection, and resolves with the number of responses. */
function sendConcurrently({ address }: ServerProcess, count: number): Promise<number> {
  const { hostname, port } = new URL(address)
  const request = (more: string) => `GET /nothing-${'x'.repeat(190)} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => {
      socket.write(request('').repeat(count - 1) + request('Connection: close\r\n'))
    })
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('close', () => resolve(text.split('HTTP/1.1 404 ').length - 1))
    socket.on('error', reject)
  })
}

/** Each logs about 500 bytes. Together they exceed the pipe and the buffer of one megabyte. */
const connections = 20
const each = 200

async function send(server: ServerProcess): Promise<void> {
  for (let count = 0; count < connections; count += 1) expect(await sendConcurrently(server, each)).toBe(each)
}

async function droppedLines({ address }: ServerProcess): Promise<number> {
  const page = parsePrometheusText(await (await fetch(`${address}/metrics`)).text())
  return page.get('grantry_log_lines_dropped_total')?.samples[0]?.value ?? Number.NaN
}

describe('a log without a reader does not stop or block the server', () => {
  test('its reader has closed', async () => {
    const server = await start()
    server.process.stderr?.destroy()
    expect(await sendConcurrently(server, each)).toBe(each)
    expect(await droppedLines(server)).toBeGreaterThan(0)
    server.process.kill('SIGTERM')
    expect(await server.ended).toBe(0)
  })

  test('its reader has stopped reading', async () => {
    const server = await start()
    server.process.stderr?.pause()
    await send(server)
    expect(await droppedLines(server)).toBeGreaterThan(0)
    const exited = new Promise((resolve) => server.process.once('exit', resolve))
    server.process.kill('SIGTERM')
    expect(await exited).toBe(0)
  })
})

test('requests are spans without configuration if the operator registers a tracer', async () => {
  const require = createRequire(import.meta.url)
  const from = (name: string) => JSON.stringify(pathToFileURL(require.resolve(name)).href)
  const tracing = join(newHome(), 'tracing.mjs')
  writeFileSync(
    tracing,
    `import api from ${from('@opentelemetry/api')}
import sdk from ${from('@opentelemetry/sdk-trace-base')}
const exporter = { export: (spans, done) => {
  for (const { name, kind } of spans) process.stdout.write('span ' + kind + ' ' + name + '\\n')
  done({ code: 0 })
}, shutdown: async () => {} }
api.trace.setGlobalTracerProvider(new sdk.BasicTracerProvider({ spanProcessors: [new sdk.SimpleSpanProcessor(exporter)] }))
`,
  )
  const server = await start({ environment: { NODE_OPTIONS: `--import ${pathToFileURL(tracing).href}` } })
  expect((await fetch(`${server.address}/.well-known/jwks`)).status).toBe(200)
  server.process.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(server.output.out).toContain('span 1 GET /.well-known/jwks\n')
  expect(server.output.err).toBe(server.output.err.replaceAll(/OpenTelemetry|Warning/gu, ''))
})
