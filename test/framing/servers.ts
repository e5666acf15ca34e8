import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { lastResort } from '../support/eventually.ts'
import { type FramingServer, type ServerProgram, type ServerUnderTest, startFramingServer } from './child-server.ts'
import { bunDiffers, denoDiffers, denoTlsDiffers } from './differences.ts'

const runtime = (name: string): string =>
  fileURLToPath(new URL(`../../runtimes/node_modules/.bin/${name}`, import.meta.url))

const bun = { adapter: '@grantry/adapters/bun', command: [runtime('bun')] }
const deno = {
  adapter: '@grantry/adapters/deno',
  command: [runtime('deno'), 'run', '--allow-all', '--v8-flags=--expose-gc'],
}
const node = { adapter: '@grantry/adapters/node', command: [process.execPath, '--expose-gc'] }

const servers: readonly ServerUnderTest[] = [
  { name: 'bun', ...bun, differs: bunDiffers },
  { name: 'bun with TLS', ...bun, overTls: true },
  { name: 'deno', ...deno, differs: denoDiffers },
  { name: 'deno with TLS', ...deno, overTls: true, differs: denoTlsDiffers },
  { name: 'node', ...node },
  { name: 'node with TLS', ...node, overTls: true },
]

/**
 * Defines the same tests for every server. The servers run side by side, the tests of each one after the other.
 *
 * @param more.requestTimeout seconds within which a whole request must arrive; by default more than on any busy machine
 */
export function describeServers(
  title: string,
  define: (server: () => FramingServer, name: string) => void,
  more: { readonly program?: ServerProgram; readonly requestTimeout?: number } = {},
): void {
  const { program: serverProgram = 'framing-server', requestTimeout = lastResort / 1000 } = more
  // The tests of memory open their connections without TLS.
  for (const under of servers.filter(({ overTls }) => !overTls || serverProgram === 'framing-server')) {
    const [program = ''] = under.command
    const missing = existsSync(program) ? undefined : `${under.name} is not installed: npm run runtimes`
    describeWith(missing, `${title}, ${under.name}`, () => {
      let server: FramingServer | undefined
      beforeAll(async () => {
        server = await startFramingServer(under, serverProgram, requestTimeout)
      })
      afterAll(() => server?.stop())
      define(() => {
        if (server === undefined) throw new TypeError('the server has not started')
        return server
      }, under.name)
    })
  }
}
