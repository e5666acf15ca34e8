import { type RefusedError, refused } from '@grantry/administration'
import { createProvider } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { adapterOfThisRuntime } from '../adapter.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { providerOptions } from '../configuration/provider-options.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'

/** What is checked: where it is in the configuration, and what errors call it. */
export interface Tried {
  /** Such as `clients[0]`. */
  readonly path: string
  /** Such as `client web`. */
  readonly called: string
}

/** After the path: `.scopes[0] must be`, `: redirectUris[0] must be`, `: secrets[0] has neither`; not `: must be`. */
const memberForm = /^(?:: (?!(?:must|is|has) )|\.)?([\w.[\]]*)/u

/** Returns the path of the member that a message names: `''` for the value itself. */
function memberIn(message: string, path: string): string | undefined {
  const at = message.indexOf(path)
  return at < 0 ? undefined : memberForm.exec(message.slice(at + path.length))?.[1]
}

/** Returns the refusal of a value that the provider refuses. */
export function refusedByProvider(cause: unknown, { path, called }: Tried): RefusedError {
  const { message } = cause as Error
  const member = memberIn(message, path)
  return refused('invalid', message.replaceAll(path, called), { member: member === '' ? undefined : member, cause })
}

/**
 * Creates a provider on an empty storage, with all plugins of the configuration, and closes it.
 *
 * @throws RefusedError `invalid` when the provider refuses the value
 */
export async function tryProvider(
  loaded: LoadedConfiguration,
  changes: Pick<CheckedConfiguration, 'clients' | 'scopes'>,
  tried: Tried,
): Promise<void> {
  const configuration = { ...loaded.configuration, ...changes, keys: {} }
  const options = await providerOptions({ ...loaded, configuration }, memoryDriver(), () => {})
  const { runtime } = await adapterOfThisRuntime()
  const provider = await createProvider({ ...options, runtime }).catch((cause: unknown) => {
    throw refusedByProvider(cause, tried)
  })
  await provider.close()
}
