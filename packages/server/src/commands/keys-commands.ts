import { type KeyInfo, type Observer, type ProviderKeys, sealStoredKeys } from '@grantry/core'
import type { Command } from 'commander'
import { keySettingsOf } from '../configuration/configured-keys.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { errorInFile } from '../error-message.ts'
import { createLog, type Log } from '../log.ts'
import { configOption } from '../opening/command-options.ts'
import { assertSharedStorage, requireConfiguration, withProvider } from '../opening/open-configuration.ts'
import { table } from './output.ts'

interface KeysArguments {
  readonly config?: string
  readonly json?: true
  readonly force?: boolean
  readonly compromised?: boolean
}

/** Milliseconds to wait for the last log lines to be written. */
const logFlushTimeout = 1000

const isoSeconds = (seconds: number | undefined): string =>
  seconds === undefined ? '-' : new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

/** Formats keys as a table with one line per key. */
function keysTable(keys: readonly KeyInfo[]): string {
  const rows = [
    ['KID', 'ALGORITHM', 'STATE', 'CREATED', 'SIGNS SINCE', 'ACCEPTED UNTIL'],
    ...keys.map((key) => [
      key.kid,
      key.algorithm,
      key.state,
      isoSeconds(key.createdAt),
      isoSeconds(key.activatedAt),
      isoSeconds(key.keptUntil),
    ]),
  ]
  return table(rows)
}

// Logs only what the command changes. The running server logs everything else.
const observeKeys =
  (log: Log): Observer =>
  (event) => {
    if (event.type === 'keys_rotated' || event.type === 'key_retired') log.observe(event)
  }

const print = (keys: readonly KeyInfo[], json: true | undefined): void => {
  process.stdout.write(json === true ? `${JSON.stringify(keys, null, 2)}\n` : keysTable(keys))
}

async function shared(config: string | undefined): Promise<LoadedConfiguration> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'the server creates new keys when it restarts')
  return loaded
}

async function run(
  { config, json }: KeysArguments,
  act: (keys: ProviderKeys) => Promise<readonly KeyInfo[]>,
  done: (loaded: LoadedConfiguration) => void = () => {},
): Promise<void> {
  const loaded = await shared(config)
  const log = createLog(process.stderr, loaded.configuration.log)
  const keys = await withProvider(loaded, ({ keys }) => act(keys), observeKeys(log))
  await log.end(logFlushTimeout)
  print(keys, json)
  done(loaded)
}

/** Tells the operator to refuse the key in the configuration, because a restored backup can contain it again. */
function adviseRefusal({ configuration }: LoadedConfiguration, kid: string): void {
  const refused = [...new Set([...(keySettingsOf(configuration.keys).refused ?? []), kid])]
  process.stderr.write(
    `Add this line to "keys" in the configuration of every server, so that a restored backup cannot reactivate the key:\n  "refused": ${JSON.stringify(refused)}\n`,
  )
}

/** Runs `grantry keys seal`. It does not use a provider, because a provider with the secret refuses unencrypted keys. */
async function seal({ config, json }: KeysArguments): Promise<void> {
  const loaded = await shared(config)
  const { issuer, storage, keys } = loaded.configuration
  const { encryptionSecret } = keySettingsOf(keys)
  if (encryptionSecret === undefined) {
    throw new TypeError(`${loaded.file}: keys.encryptionSecret is missing; set it, then run this command`)
  }
  const { driver } = await configuredStorage(storage, loaded.directory)
  try {
    print(await sealStoredKeys({ issuer, storage: driver, encryptionSecret }), json)
  } catch (cause) {
    throw errorInFile(cause, loaded.file)
  } finally {
    await driver.dispose?.()
  }
  process.stderr.write(
    'The keys are encrypted. Compare them with the published list, restart every server with the encryptionSecret, and after 6 minutes run "grantry keys rotate", because the current key was stored unencrypted until now.\n',
  )
}

/** Adds `grantry keys list | rotate | retire KID | seal`. Running servers pick up the changes within seconds. */
export function addKeysCommands(grantry: Command): void {
  const keys = grantry.command('keys').description('list and replace the signing keys in the storage')
  const command = (name: string, description: string): Command =>
    keys
      .command(name)
      .description(description)
      .option(...configOption)
      .option('--json', 'print JSON')

  command('list', 'list the keys and their states').action((options: KeysArguments) =>
    run(options, (provider) => provider.list()),
  )
  command('rotate', 'sign with the next keys; the old keys are accepted until their tokens have expired')
    .option('--force', 'even if the next key was published too recently')
    .action((options: KeysArguments) => run(options, (provider) => provider.rotate({ force: options.force === true })))
  command('retire', 'take one key out of use')
    .argument('<kid>', 'the key id, as shown by grantry keys list')
    .option('--compromised', 'the private key has leaked: immediately refuse every token that it has signed')
    .option('--force', 'even if the next key was published too recently')
    .action((kid: string, { compromised = false, force = false, ...options }: KeysArguments) =>
      run(
        options,
        (provider) => provider.retire(kid, { compromised, force }),
        (loaded) => compromised && adviseRefusal(loaded, kid),
      ),
    )
  command('seal', 'encrypt unencrypted keys in the storage with keys.encryptionSecret').action(seal)
}
