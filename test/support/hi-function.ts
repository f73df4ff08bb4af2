/** A function that answers without a network. */
export const HI_FUNCTION = `
client<llm> Offline {
  provider offline
}
function Hi(name: string) -> string {
  client Offline
  prompt #"Say hi to {{ name }}"#
}
`;
