import type { ProviderEvent } from '@grantry/core'
import { isAddress } from './local-address.ts'
import type { GrantryServer } from './server.ts'

const red = (text: string, colour: boolean): string => (colour ? `\u001B[31m${text}\u001B[0m` : text)

function endpointLines({ provider }: GrantryServer): readonly string[] {
  return Object.entries(provider.paths).map(
    ([name, path]) => `  ${(provider.methods[name] ?? []).join(' ').padEnd(9)} ${path}`,
  )
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
  const { consoleUrl, outboxUrl } = server
  if (isDemo || consoleUrl !== undefined || outboxUrl !== undefined) lines.push('')
  if (isDemo) lines.push(`demo       ${provider.issuer}/, where you can sign in as alice`)
  if (outboxUrl !== undefined) lines.push(`outbox     ${outboxUrl}, where the mails arrive: none is sent`)
  if (isDemo && isAddress(provider.issuer)) {
    lines.push('passkeys   off, because browsers refuse them at an IP address: npm start -- --host localhost')
  }
  if (consoleUrl !== undefined) lines.push(`console    ${consoleUrl}`)
  for (const { message } of server.warnings) lines.push(red(`warning    ${message}`, colour))
  for (const warning of warnings) if ('message' in warning) lines.push(red(`warning    ${warning.message}`, colour))
  if (isDemo) {
    lines.push('', red('This is a demo: its secrets are public, and its keys are stored with its tokens.', colour))
  }
  lines.push('', 'Paste this into another terminal:', '', server.commands)
  return `${lines.join('\n')}\n`
}
