import { closestName, configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { apple, appleSchema } from './presets/apple.ts'
import { github, githubSchema } from './presets/github.ts'
import { gitlab, gitlabSchema } from './presets/gitlab.ts'
import { google, googleSchema } from './presets/google.ts'
import { grantry, grantrySchema } from './presets/grantry.ts'
import { keycloak, keycloakSchema } from './presets/keycloak.ts'
import { microsoft, microsoftSchema } from './presets/microsoft.ts'
import { type libraryEntries, openIdProviderSchema, type UpstreamProvider } from './upstream-options.ts'

const preset = <const N extends string, const E extends v.ObjectEntries>(
  name: N,
  { entries: { keepTokens: _, ...entries } }: { readonly entries: E & typeof libraryEntries },
) => configurationObject({ preset: v.literal(name), ...(entries as Omit<E, 'keepTokens'>) })

/** The providers of a configuration file, by their preset. */
export const configuredProviderSchemas = {
  apple: preset('apple', appleSchema),
  github: preset('github', githubSchema),
  gitlab: preset('gitlab', gitlabSchema),
  google: preset('google', googleSchema),
  grantry: preset('grantry', grantrySchema),
  keycloak: preset('keycloak', keycloakSchema),
  microsoft: preset('microsoft', microsoftSchema),
  none: openIdProviderSchema,
} as const

type Schemas = typeof configuredProviderSchemas
type Preset = Exclude<keyof Schemas, 'none'>

/** A provider of a configuration file. */
export type ConfiguredProvider = v.InferInput<Schemas[keyof Schemas]>

const presets = Object.keys(configuredProviderSchemas).filter((name) => name !== 'none')

const unknownPreset = v.looseObject({
  preset: v.custom<string>(
    () => false,
    ({ input }) => {
      const closest = closestName(String(input), presets)
      return `must be one of ${presets.join(', ')}${closest === undefined ? '' : `; did you mean ${closest}?`}`
    },
  ),
})

/** Chosen by the preset: the errors of a union would not name the path. */
export const configuredProviderSchema: v.GenericSchema<ConfiguredProvider> = v.lazy((input) => {
  const name = Object(input).preset as unknown
  if (name === undefined) return openIdProviderSchema as unknown as v.GenericSchema<ConfiguredProvider>
  const known = presets.find((candidate) => candidate === name) as Preset | undefined
  const schema = known === undefined ? unknownPreset : configuredProviderSchemas[known]
  return schema as unknown as v.GenericSchema<ConfiguredProvider>
})

/** Returns the provider that a configuration describes. */
export function providerOf(configured: ConfiguredProvider): UpstreamProvider {
  if (!('preset' in configured)) return configured
  switch (configured.preset) {
    case 'apple': {
      const { preset: _, ...options } = configured
      return apple(options)
    }
    case 'github': {
      const { preset: _, ...options } = configured
      return github(options)
    }
    case 'gitlab': {
      const { preset: _, ...options } = configured
      return gitlab(options)
    }
    case 'google': {
      const { preset: _, ...options } = configured
      return google(options)
    }
    case 'grantry': {
      const { preset: _, ...options } = configured
      return grantry(options)
    }
    case 'keycloak': {
      const { preset: _, ...options } = configured
      return keycloak(options)
    }
    case 'microsoft': {
      const { preset: _, ...options } = configured
      return microsoft(options)
    }
  }
}
