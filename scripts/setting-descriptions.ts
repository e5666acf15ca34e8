// Describes the settings in the JSON Schema of the configuration with the texts of the guide.
import { readFileSync } from 'node:fs'

/** Returns each setting, such as `clients[].public`, with its description from the table of the guide. */
const guide = (): readonly (readonly [path: string, meaning: string])[] =>
  [
    ...readFileSync(new URL('../docs/guides/configuration.md', import.meta.url), 'utf8').matchAll(
      /^\| `([\w.[\]]+)` \| ((?:(?! \| ).)+) \|$/gmu,
    ),
  ].map(([, path = '', meaning = '']) => [
    path,
    meaning.replaceAll(/\[([^\]]+)\]\([^)]+\)/gu, '$1').replaceAll('`', ''),
  ])

interface Described {
  readonly properties?: Readonly<Record<string, Described>>
  readonly items?: Described
  readonly anyOf?: readonly Described[]
  readonly oneOf?: readonly Described[]
  description?: string
}

/** The schema, and those of which it has the values of one. */
const alternatives = (schema: Described): readonly Described[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(alternatives),
]

function describe(schema: Described, path: string, meaning: string): void {
  const described = path.split('.').reduce<readonly Described[]>(
    (at, name) =>
      at.flatMap(alternatives).flatMap((each) => {
        const member = each.properties?.[name.replace('[]', '')]
        if (member === undefined) return []
        return name.endsWith('[]') ? alternatives(member).flatMap(({ items }) => items ?? []) : [member]
      }),
    [schema],
  )
  if (described.length === 0) throw new Error(`docs/guides/configuration.md describes ${path}, which is not a setting`)
  for (const each of described) each.description = meaning
}

/** Adds the description of each setting to a JSON Schema. @throws Error when the guide describes what is not a setting */
export function describeSettings(schema: object): void {
  for (const [path, meaning] of guide()) describe(schema, path, meaning)
}
