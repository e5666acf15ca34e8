import { grantryFile } from './grantry-file.ts'
import { manifest, tsconfig, type VersionOf } from './manifest.ts'
import { newSecret } from './new-secret.ts'
import type { Part } from './part.ts'
import { places } from './places.ts'
import type { Answers } from './questions.ts'
import { storages } from './storage.ts'
import { template } from './templates.ts'
import { users } from './users.ts'

/** A project that is not written yet. */
export interface Project {
  /** The files by their names. */
  readonly files: Readonly<Record<string, string>>
  /** Lines of `.gitignore`. */
  readonly ignored: readonly string[]
  /** How the first user signs in. */
  readonly note: string
  /** The command that starts the project. */
  readonly start: string
}

const signIn: Part = {
  imports: { '@grantry/pages': ['createPages'], '@grantry/plugins/sign-in-plugins': ['signInPlugins'] },
  code: "signInPlugins({ pages: createPages({ name: 'Example' }) })",
  packages: ['@grantry/pages', '@grantry/plugins'],
}

const environmentFile = (settings: Readonly<Record<string, string>>): string => `\
# Settings and secrets. Keep this file out of version control, and a copy in your password manager.
# GRANTRY_KEY_SECRET encrypts the signing keys in the storage: without it they cannot be read.
${Object.entries(settings)
  .map(([name, value]) => `${name}=${value}\n`)
  .join('')}`

/** Returns why answers cannot be combined; `undefined` if they can. */
export function refusalOf(_answers: Answers): string | undefined {
  return undefined
}

/** Returns the files of an application with its own users. */
export function projectOf(answers: Answers, name: string, versionOf: VersionOf): Project {
  const place = places[answers.where]
  const parts = { storage: storages[answers.storage], users: users[answers.users](), plugins: signIn }
  const settings = {
    ISSUER: 'http://127.0.0.1:3000',
    PORT: '3000',
    GRANTRY_KEY_SECRET: newSecret(),
    CLIENT_SECRET: newSecret(),
    ...parts.storage.settings,
    ...parts.users.settings,
  }
  const packages = [parts.storage, parts.users, parts.plugins].flatMap((part) => part.packages)
  return {
    files: {
      'package.json': manifest(
        {
          name,
          scripts: place.scripts,
          packages: ['@grantry/core', 'openid-client', ...place.packages, ...packages],
          development: place.development,
        },
        versionOf,
      ),
      'tsconfig.json': tsconfig,
      '.env': environmentFile(settings),
      'grantry.ts': grantryFile(parts),
      'client.ts': template('app/client.ts'),
      'server.ts': template(place.server),
      'sign-in.test.ts': template('app/sign-in.test.ts'),
    },
    ignored: ['node_modules/', '.env', 'data/'],
    start: place.scripts.start,
    note: 'Sign in as alice; the password is ALICE_PASSWORD in .env.',
  }
}
