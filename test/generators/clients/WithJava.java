import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import shop.ApiClient;
import shop.ApiException;
import shop.api.FunctionsApi;
import shop.model.CountMoodsRequest;
import shop.model.CountMoodsRequestWeights;
import shop.model.DescribeRequest;
import shop.model.FollowRequest;
import shop.model.FollowStreamEvent;
import shop.model.GrowRequest;
import shop.model.Mood;
import shop.model.OwnerInput;
import shop.model.Person;
import shop.model.PersonInput;
import shop.model.ReadPersonRequest;
import shop.model.RefuseRequest;
import shop.model.SvcAudio;
import shop.model.SvcClient;
import shop.model.SvcClientRegistry;
import shop.model.SvcError;
import shop.model.SvcImage;
import shop.model.SvcOptions;
import shop.model.TakeOrderRequest;
import shop.model.Tree;
import shop.model.TreeInput;
import shop.model.WithoutKeyRequest;

/** Calls the server with the client that openapi-generator writes for Java; prints the steps that held. */
public final class WithJava {
  private static final ObjectMapper JSON = new ApiClient().getObjectMapper();
  private final URI server;
  private final String key;
  private final FunctionsApi api;

  private WithJava(URI server, String key) {
    this.server = server;
    this.key = key;
    this.api = apiWith(key);
  }

  public static void main(String[] args) throws Exception {
    WithJava client = new WithJava(URI.create(args[0]), args[1]);
    Map<String, Step> steps = new LinkedHashMap<>();
    steps.put("classes, enums, optionals, maps and literals", client::values);
    steps.put("an optional value can be absent or null", client::optionals);
    steps.put("recursion", client::recursion);
    steps.put("maps with keys from an enum", client::mapsOfEnums);
    steps.put("checks", client::checks);
    steps.put("media", client::media);
    steps.put("options of a request", client::options);
    steps.put("a reply that does not match is a typed 500", client::mismatch);
    steps.put("a missing credential is a typed 500", client::missingCredential);
    steps.put("a wrong key is a typed 403", client::wrongKey);
    steps.put("a stream, as events of the declared type", client::stream);
    for (Map.Entry<String, Step> step : steps.entrySet()) {
      step.getValue().run();
      System.out.println(step.getKey());
    }
  }

  private interface Step {
    void run() throws Exception;
  }

  private FunctionsApi apiWith(String usedKey) {
    ApiClient client = new ApiClient().setHost(server.getHost()).setPort(server.getPort()).setScheme("http");
    client.setRequestInterceptor(request -> request.header("x-svc-api-key", usedKey));
    return new FunctionsApi(client);
  }

  private void values() throws ApiException {
    PersonInput ada = new PersonInput().name("Ada").height(1.7).awake(true).mood(Mood.HAPPY);
    ada.kind(PersonInput.KindEnum.HUMAN).tags(List.of()).scores(Map.of());
    Person person = api.readPerson(new ReadPersonRequest().text("Ada").mood(Mood.SAD).people(List.of(ada)), null);
    equal(List.of("Ada", Mood.HAPPY, Person.KindEnum.HUMAN), List.of(person.getName(), person.getMood(), person.getKind()));
    equal(10.0, person.getScores().get("math"));
    equal(null, person.getAge());
    equal("Main", person.getAddress().getStreet());
    equal(null, person.getAddress().getZip());
  }

  private void optionals() throws ApiException {
    equal("Ada", api.readPerson(new ReadPersonRequest().text("Ada"), null).getName());
    equal("Ada", api.readPerson(new ReadPersonRequest().text("Ada").people(null).mood(null), null).getName());
  }

  private void recursion() throws ApiException {
    TreeInput leaf = new TreeInput().label("b").children(List.of());
    TreeInput tree = new TreeInput().label("a").children(List.of(leaf)).owner(new OwnerInput().trees(List.of()));
    Tree grown = api.grow(new GrowRequest().tree(tree), null);
    equal("leaf", grown.getChildren().get(0).getLabel());
    equal(List.of(), grown.getOwner().getTrees());
  }

  private void mapsOfEnums() throws ApiException {
    var counts = api.countMoods(new CountMoodsRequest().weights(new CountMoodsRequestWeights().HAPPY(0.5)), null);
    equal(2L, counts.getHAPPY());
    equal(1L, counts.getSAD());
  }

  private void checks() throws ApiException {
    var amount = api.takeOrder(new TakeOrderRequest().text("500"), null).getAmount();
    equal(500L, amount.getValue());
    equal("succeeded", amount.getChecks().getPositive().getStatus().getValue());
    equal("failed", amount.getChecks().getSmall().getStatus().getValue());
  }

  private void media() throws ApiException {
    SvcImage picture = new SvcImage().url("https://example.com/a.png");
    SvcAudio sound = new SvcAudio().base64(new byte[] {0, 0, 0}).mediaType("audio/wav");
    equal("I would rather not.", api.describe(new DescribeRequest().picture(picture).sounds(List.of(sound)), null));
  }

  private void options() throws ApiException {
    SvcClient seven = new SvcClient().name("Seven").provider("offline").options(Map.of("reply", "7"));
    SvcClientRegistry registry = new SvcClientRegistry().primary("Seven").clients(List.of(seven));
    equal(7L, api.refuse(new RefuseRequest().text("7").svcOptions(new SvcOptions().clientRegistry(registry)), null));
  }

  private void mismatch() throws Exception {
    SvcError error = refused(500, () -> api.refuse(new RefuseRequest().text("x"), null));
    equal(List.of("validation_failure", "I would rather not."), List.of(error.getError().getValue(), error.getRawOutput()));
  }

  private void missingCredential() throws Exception {
    SvcError error = refused(500, () -> api.withoutKey(new WithoutKeyRequest().text("x"), null));
    equal(List.of("missing_credential", "SHOP_KEY"), List.of(error.getError().getValue(), error.getVariable()));
  }

  private void wrongKey() throws Exception {
    equal("Unauthorized", refused(403, () -> apiWith("wrong").refuse(new RefuseRequest().text("x"), null)).getError().getValue());
  }

  /** The generator knows no event streams: the request is ours, the events are of its types. */
  private void stream() throws Exception {
    byte[] body = JSON.writeValueAsBytes(new FollowRequest().topic("x"));
    HttpRequest.Builder request = HttpRequest.newBuilder(server.resolve("/stream/Follow"));
    request.header("x-svc-api-key", key).header("content-type", "application/json");
    request.POST(HttpRequest.BodyPublishers.ofByteArray(body));
    var response = HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    List<FollowStreamEvent> events = new ArrayList<>();
    var reader = new BufferedReader(new InputStreamReader(response.body()));
    for (String line = reader.readLine(); line != null; line = reader.readLine()) {
      if (line.startsWith("data: ")) events.add(JSON.readValue(line.substring(6), FollowStreamEvent.class));
    }
    equal("A title", events.get(events.size() - 1).getFinalResult().getTitle());
    equal(true, events.size() > 3);
    equal(true, events.stream().limit(events.size() - 1).allMatch(event -> event.getPartialResult().getTotal() == 7));
  }

  private static SvcError refused(int status, Step call) throws Exception {
    try {
      call.run();
    } catch (ApiException refusal) {
      equal(status, refusal.getCode());
      return JSON.readValue(refusal.getResponseBody(), SvcError.class);
    }
    throw new AssertionError("the call was answered");
  }

  private static void equal(Object expected, Object actual) {
    if (!Objects.equals(expected, actual)) throw new AssertionError(actual + " is not " + expected);
  }
}
