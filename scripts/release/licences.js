/** Licences that let anyone use, change and sell a program, and ask only to keep their text. */
const accepted = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
])

/** Whether an SPDX expression leaves a choice that is accepted. */
const isAccepted = (expression) =>
  expression
    .replaceAll(/[()]/gu, '')
    .split(/ OR /u)
    .some((choice) => choice.split(/ AND /u).every((name) => accepted.has(name.trim())))

/**
 * Returns the licences of all packages as a table.
 *
 * @throws Error that names each package whose licence asks for more
 */
export function licenceTable(components) {
  const refused = components.filter(({ licence }) => !isAccepted(licence))
  if (refused.length > 0) {
    const names = refused.map(({ name, version, licence }) => `${name} ${version} (${licence})`)
    throw new Error(`these licences are not accepted: ${names.join(', ')}`)
  }
  return components.map(({ name, version, licence }) => `${licence}\t${name} ${version}\n`).join('')
}
