/** Characters of a name that a user gives to something. */
const maxLength = 64

/** Returns a name without what cannot be seen: control characters, and marks that change the direction of the text. */
export const labelIn = (text: string): string => {
  const visible = text
    .slice(0, maxLength * 4)
    .replaceAll(/[\p{C}\u2028\u2029]/gu, '')
    .trim()
  return [...visible].slice(0, maxLength).join('')
}
