/** A function that returns its model's text (`PROVIDER_URL`). */
export const TALK_FILES = {
  'talk.svc': `
client<llm> Model {
  provider openai-generic
  options {
    model local
    base_url env.PROVIDER_URL
  }
}

function Talk(topic: string) -> string {
  client Model
  prompt #"Talk about {{ topic }}."#
}
`,
};
