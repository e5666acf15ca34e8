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

/**
 * Whether an SPDX expression (SPDX 2.3, annex D.4) leaves a choice that is accepted. AND binds more than OR. An exception of a
 * licence (WITH) is not judged, so it is refused, as is what cannot be read.
 */
function isAccepted(expression) {
  const words = expression.match(/[()]|[^\s()]+/gu) ?? []
  let isReadable = true
  /** Reads operands until another word than the operator follows. */
  const readAll = (operator, readOne) => {
    const values = [readOne()]
    while (words[0] === operator) {
      words.shift()
      values.push(readOne())
    }
    return values
  }
  const readOr = () => readAll('OR', readAnd).includes(true)
  const readAnd = () => !readAll('AND', readLicence).includes(false)
  const readLicence = () => {
    const word = words.shift()
    if (word !== '(') {
      isReadable &&= word !== undefined && !['AND', 'OR', ')'].includes(word)
      return accepted.has(word)
    }
    const isInside = readOr()
    isReadable &&= words.shift() === ')'
    return isInside
  }
  return readOr() && isReadable && words.length === 0
}

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
