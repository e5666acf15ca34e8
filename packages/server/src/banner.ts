import type { ProviderEvent } from '@grantry/core'
import { localPort } from './local-address.ts'
import type { GrantryServer } from './server.ts'

const red = (text: string, colour: boolean): string => (colour ? `\u001B[31m${text}\u001B[0m` : text)

function endpointLines({ provider }: GrantryServer): readonly string[] {
  return Object.entries(provider.paths).map(
    ([name, path]) => `  ${(provider.methods[name] ?? []).join(' ').padEnd(9)} ${path}`,
  )
}

/** A warning to the operator, with a stable reason code. */
interface ServerWarning {
  readonly reason: string
  readonly message: string
}

/** Warns when a loopback issuer names another port than the one the server listens on. */
export function issuerWarning({
  provider,
  running,
}: Pick<GrantryServer, 'provider' | 'running'>): ServerWarning | undefined {
  const port = localPort(provider.issuer)
  if (port === undefined || port === running.port) return undefined
  return {
    reason: 'issuer_port_mismatch',
    message: `The issuer names port ${port}, but the server listens on ${running.port}: clients will connect to the wrong port`,
  }
}

/** Returns the text that `grantry serve` prints to a terminal once the server listens. */
export function banner(server: GrantryServer, warnings: readonly ProviderEvent[], colour: boolean): string {
  const { provider, running, isDemo } = server
  const keys = provider.metadata.id_token_signing_alg_values_supported
  const lines = [
    `Grantry is listening on ${running.host}:${running.port}`,
    '',
    `issuer     ${provider.issuer}`,
    `storage    ${server.storage}`,
    `keys       ${Array.isArray(keys) ? keys.join(', ') : ''}, ${server.keys}`,
    `metrics    ${server.metrics}`,
    `plugins    ${server.plugins.join(', ')}`,
    'endpoints',
    ...endpointLines(server),
    '  GET       /health/live, /health/ready',
  ]
  if (isDemo || server.consoleUrl !== undefined) lines.push('')
  if (isDemo) lines.push(`demo       ${provider.issuer}/, where you can sign in as alice`)
  if (server.consoleUrl !== undefined) lines.push(`console    ${server.consoleUrl}`)
  const mismatch = issuerWarning(server)
  if (mismatch !== undefined) lines.push(red(`warning    ${mismatch.message}`, colour))
  for (const warning of warnings) if ('message' in warning) lines.push(red(`warning    ${warning.message}`, colour))
  if (isDemo) {
    lines.push('', red('This is a demo: its secrets are public, and its keys are stored with its tokens.', colour))
  }
  lines.push('', 'Paste this into another terminal:', '', server.commands)
  return `${lines.join('\n')}\n`
}
