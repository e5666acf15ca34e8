const unseen = /^[\s\p{Cf}]$/u

/**
 * Removes white space and invisible characters around a text, which come with what people paste. Between letters, they can
 * have a meaning, such as in Persian.
 */
export function trimUnseen(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && unseen.test(text.charAt(start))) start += 1
  while (end > start && unseen.test(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}
